"""Requests and replies of the HTTP API, each declared once as a struct."""
