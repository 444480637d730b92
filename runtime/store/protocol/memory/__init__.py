"""The store of memories as the runtime sees it."""
