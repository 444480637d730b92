"""Real pages in the real browser of the agent."""
