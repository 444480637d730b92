"""Quality gate: what work is judged by, and how a verdict is read."""
