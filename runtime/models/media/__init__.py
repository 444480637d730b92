"""Models of pictures, recordings and voices, asked through LiteLLM; and those of the demo, which need nobody."""
