"""Doors that speak as OpenAI's API does, so that its clients talk to agents."""
