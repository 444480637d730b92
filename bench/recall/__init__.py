"""Recall of memories: what is found in dialogues that we make, and how long it takes among 100,000 rows."""
