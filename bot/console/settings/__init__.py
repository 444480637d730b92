"""Pages of settings: all of them with their sources, one table as a form, keys of models and channels."""
