"""The only code that touches a machine."""
