"""Git servers on the wire."""
