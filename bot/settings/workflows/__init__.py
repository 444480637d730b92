"""Settings of workflows: tables, files in their folder, and their faults together."""
