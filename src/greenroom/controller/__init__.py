"""The controller: reads the scheduler, asks the policy, writes the store, carries out what was decided."""
