"""A club night: players, rounds, standings and ratings over any number of tables."""
