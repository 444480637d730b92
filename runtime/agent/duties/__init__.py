"""Duties of the agent beside its runs: what any node does for questions that people were asked."""
