"""The Agent Client Protocol: editors talk to agents over standard input and output. Loaded by `signalbox acp` alone."""
