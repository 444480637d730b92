"""Programs that agents started, with their nodes."""
