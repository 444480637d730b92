"""Models of pictures and of speech, asked through LiteLLM; and the demo's pictures, which need nobody."""
