"""What every web route of the process shares: refusals, the guard before them, bodies, and who is signed in."""
