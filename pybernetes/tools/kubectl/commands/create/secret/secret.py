"""create secret: makes secrets of several kinds."""

from pybernetes.tools.kubectl.commands._group import group

SUMMARY = "Create a secret using a specified subcommand"
USAGE = "create secret (docker-registry | generic | tls)"
FLAGS = ()
run = group()
