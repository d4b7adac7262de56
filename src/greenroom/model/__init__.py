"""The words of Greenroom as frozen dataclasses and string enums. No I/O, no clock."""
