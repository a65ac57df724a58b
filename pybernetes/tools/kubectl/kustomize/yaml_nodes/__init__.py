"""YAML as the original keeps it: nodes that remember tag and style, how they are read, searched, changed and merged."""
