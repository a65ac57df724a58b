"""set: changes single features of objects."""

from pybernetes.tools.kubectl.commands._group import group

SUMMARY = "Set specific features on objects"
USAGE = "set SUBCOMMAND"
FLAGS = ()
run = group()
