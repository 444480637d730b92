"""`signalbox models`: the models of the settings, tried, and those that rest."""
