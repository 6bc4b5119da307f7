"""Whether this machine can run a table: small checks on probes they are given."""
