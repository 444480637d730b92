"""`signalbox init`: questions, each of which is a flag too, and what their answers make. Nothing is written before the end."""
