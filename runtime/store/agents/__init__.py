"""Several agents: which one a message is for, and how one is suspended, resumed and ended."""
