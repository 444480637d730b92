"""A server that speaks the API of OpenAI, as a test scripts it."""
