"""Kinds that can be asked about, one in each file with ``WHY``."""
