"""Pages of runs: the list, and one with its steps in time."""
