"""Goals in the store: set by a command, and looked up with how far they are."""
