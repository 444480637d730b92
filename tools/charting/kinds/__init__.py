"""The kinds of charts."""
