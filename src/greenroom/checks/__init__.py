"""The checks: one file a domain, one function a check, found by looking into this package."""
