"""plugin: programs named kubectl-something."""

from pybernetes.tools.kubectl.commands._group import group

SUMMARY = "Provides utilities for interacting with plugins"
USAGE = "plugin [flags]"
FLAGS = ()
run = group()
