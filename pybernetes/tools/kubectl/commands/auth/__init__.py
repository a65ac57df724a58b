"""auth: what users may do, and who one is."""

from pybernetes.tools.kubectl.commands._group import run

__all__ = ["run"]
SUMMARY = "Inspect authorization"
USAGE = "auth"
GROUP = True
FLAGS = ()
