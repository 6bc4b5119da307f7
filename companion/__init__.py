"""The companion: rules, session, records and the composition root."""
