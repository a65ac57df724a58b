"""Joins the translation to an API server: what changed, what follows from it, what is written back."""
