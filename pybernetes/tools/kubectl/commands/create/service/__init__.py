"""create service: makes services of several types."""

from pybernetes.tools.kubectl.commands._group import run

__all__ = ["run"]
SUMMARY = "Create a service using a specified subcommand"
USAGE = "create service"
GROUP = True
FLAGS = ()
