"""Pure: text of one tool or format -> facts. One file a tool. No I/O, no clock."""
