"""The first steps with Signalbox: what is set up is looked at, a first task runs, and the result is told."""
