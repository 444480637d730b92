"""Programs that stay, read lines of JSON and answer with such lines."""
