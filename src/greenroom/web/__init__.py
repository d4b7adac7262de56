"""The HTTP side: reads the store, hands requests to the gate. Never calls a scheduler."""
