"""What to do about a node: pure functions of state, event, rules and time. No I/O, no clock."""
