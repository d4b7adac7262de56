"""Runs checks: plan, execute, judge, report, deliver."""
