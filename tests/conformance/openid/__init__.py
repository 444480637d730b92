"""People who sign in at a certified OpenID provider."""
