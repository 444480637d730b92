"""Messages on their way to Discord."""
