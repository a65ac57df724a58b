"""Objects as YAML, as the library of the original writes it."""
