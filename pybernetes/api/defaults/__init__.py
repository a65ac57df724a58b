"""Defaults that several kinds share; each function completes its part of an object in place."""
