"""top: what nodes and pods use."""

from pybernetes.tools.kubectl.commands._group import run

__all__ = ["run"]
SUMMARY = "Display resource (CPU/memory) usage"
USAGE = "top"
GROUP = True
FLAGS = ()
