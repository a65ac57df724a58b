"""Kinds, schemas, validation, patches: pure data, no input or output."""
