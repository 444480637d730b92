"""Skills on disk: a folder each, read without following a link, and shelves of them by where they come from."""
