"""Entries become Envoy's resources: messages of its API, made of plain dictionaries. No text is put together."""
