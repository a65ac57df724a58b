"""config: looks at kubeconfig files and changes them."""

from pybernetes.tools.kubectl.commands._group import run

__all__ = ["run"]
SUMMARY = "Modify kubeconfig files"
USAGE = "config SUBCOMMAND"
GROUP = True
FLAGS = ()
