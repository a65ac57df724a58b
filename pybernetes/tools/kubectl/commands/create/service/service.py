"""create service: makes services of several types."""

from pybernetes.tools.kubectl.commands._group import group

SUMMARY = "Create a service using a specified subcommand"
USAGE = "create service [flags]"
ALIASES = ("svc",)
FLAGS = ()
run = group()
