"""Stand-ins for tests, of ours and of others: a chat platform, models that answer as told, clocks. No process loads them."""
