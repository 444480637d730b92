"""Settings over the operators' API: shown with their sources, changed by owners, secrets set and channels connected."""
