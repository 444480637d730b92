"""Tools of what agents keep: memories of people, rooms and agents, and values under keys."""
