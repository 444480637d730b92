"""Each way to answer, killed at each step between the press and its outcome, on four channels and both engines."""
