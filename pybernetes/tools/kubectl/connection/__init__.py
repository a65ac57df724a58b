"""Requests to the API server, made to start fast."""
