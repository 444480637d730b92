"""Words of memory: what an agent keeps, for whom, and what programs keep beside it."""
