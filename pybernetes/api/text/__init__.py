"""Texts as Go reads and writes them: values in messages, JSON, YAML, durations, regular expressions."""
