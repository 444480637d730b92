"""Sign-in of people at a provider: the second layer behind our own links and tokens. Loaded where `[auth]` is set."""
