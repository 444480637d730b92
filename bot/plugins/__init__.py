"""What the program finds by name: what is built in, and what installed packages bring."""
