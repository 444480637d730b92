"""Children of runs: made in one transaction with what their parent waits for, and ended in one with what it is told."""
