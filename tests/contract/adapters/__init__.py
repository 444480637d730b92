"""What every channel promises: the same tests over each adapter, with its real client against a server on its wire."""
