"""set: changes single features of objects."""

from pybernetes.tools.kubectl.commands._group import run

__all__ = ["run"]
SUMMARY = "Set specific features on objects"
USAGE = "set SUBCOMMAND"
GROUP = True
FLAGS = ()
