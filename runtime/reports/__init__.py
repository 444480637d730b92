"""Reports: made without a model, or handed to several rooms."""
