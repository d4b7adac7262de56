"""Stand-ins and real parts on loopback: for demos, drills and tests, never for a verdict on hardware."""
