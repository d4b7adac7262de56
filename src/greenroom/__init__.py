"""Greenroom: a node waits here until it is fit to play."""

__version__ = "0.1.0"
