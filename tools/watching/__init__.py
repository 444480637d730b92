"""Standing intents: "tell me when …"."""
