"""Tokens of OpenID providers: whom to believe, where their keys are, and what claims say about a user."""
