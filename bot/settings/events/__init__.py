"""Tables of event sinks and of feedback."""
