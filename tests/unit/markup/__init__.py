"""The parse of Markdown and its two renders."""
