"""Settings of agents: tables, files in their folder, and their faults together."""
