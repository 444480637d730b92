"""What commands share at a terminal: options, output, prompts."""
