"""Commands about events, checkpoints and feedback."""
