"""Settings of language models: their tables, and what is wrong between them."""
