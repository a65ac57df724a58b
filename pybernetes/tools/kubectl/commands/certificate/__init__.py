"""certificate: approves or denies requests for certificates."""

from pybernetes.tools.kubectl.commands._group import run

__all__ = ["run"]
SUMMARY = "Modify certificate resources"
USAGE = "certificate SUBCOMMAND"
GROUP = True
FLAGS = ()
