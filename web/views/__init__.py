"""The routes of the pages and of their HTTP API."""
