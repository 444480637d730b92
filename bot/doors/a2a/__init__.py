"""A2A: agents as peers of other agents, by the protocol's versions 1.0 and 0.3. A task is a message of a program and its run."""
