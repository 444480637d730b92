"""Tasks of rooms and checklists of runs: their rows, and the runs that work on them."""
