"""The questions, one file each with a ``QUESTION``."""
