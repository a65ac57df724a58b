"""The verbs of ``pyb federation`` that are about local clusters, one to a file."""
