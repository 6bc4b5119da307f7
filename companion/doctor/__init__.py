"""Checks whether this machine can run a table; each check receives its probes."""
