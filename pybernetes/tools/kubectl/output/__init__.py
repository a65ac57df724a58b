"""What kubectl prints besides tables: YAML, Go templates, times."""
