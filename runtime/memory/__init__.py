"""Memory for tools and commands: what is kept passes the leak guard, and what is read is read for somebody."""
