"""Models of embeddings, asked through LiteLLM; and what is taken of their answers."""
