"""Tables of programs that speak here, and of those that agents speak with."""
