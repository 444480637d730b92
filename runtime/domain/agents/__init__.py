"""Pure rules of several agents: what one is, what it may do, and which one a message is for."""
