"""Kinds that are answered but not stored: one file per kind, named like it, with a function ``handle``."""
