"""Requests to a model: a conversation, cut to what the model reads at once."""
