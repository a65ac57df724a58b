"""kuberc: the file with what a user prefers."""

from pybernetes.tools.kubectl.commands._group import group

SUMMARY = "Manage kuberc configuration files"
USAGE = "kuberc SUBCOMMAND"
FLAGS = ()
run = group()
