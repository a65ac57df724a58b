"""config: looks at kubeconfig files and changes them."""

from pybernetes.tools.kubectl.commands._group import group

SUMMARY = "Modify kubeconfig files"
USAGE = "config SUBCOMMAND"
FLAGS = ()
run = group()
