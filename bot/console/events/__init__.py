"""Pages of events and feedback."""
