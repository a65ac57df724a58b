"""Writing YAML as the original does."""
