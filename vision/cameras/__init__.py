"""The cameras: one interface, and an adapter for each kind."""
