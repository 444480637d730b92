"""Documents of knowledge packs, in chunks: their rows, and how they are searched."""
