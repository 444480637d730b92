"""A real browser for the agent: Chromium in a sandbox without a network, whose only way out is a gateway that asks the egress rules."""
