"""Tokens of service accounts: what they say, who makes them, and whether they still hold."""
