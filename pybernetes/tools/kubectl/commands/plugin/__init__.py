"""plugin: programs named kubectl-something."""

from pybernetes.tools.kubectl.commands._group import run

__all__ = ["run"]
SUMMARY = "Provides utilities for interacting with plugins"
USAGE = "plugin [flags]"
GROUP = True
FLAGS = ()
