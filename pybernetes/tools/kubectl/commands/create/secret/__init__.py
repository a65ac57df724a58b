"""create secret: makes secrets of several kinds."""

from pybernetes.tools.kubectl.commands._group import run

__all__ = ["run"]
SUMMARY = "Create a secret using a specified subcommand"
USAGE = "create secret (docker-registry | generic | tls)"
GROUP = True
FLAGS = ()
