"""The leak guard: secrets and personal data in what flows, found and taken out before anything keeps, sends or shows it."""
