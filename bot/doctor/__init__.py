"""`signalbox doctor`: what is wrong, why it matters, and the command that mends it. Looks, and changes nothing."""
