"""Kinds of the core group."""

GROUP = ""
