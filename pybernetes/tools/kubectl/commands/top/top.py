"""top: what nodes and pods use."""

from pybernetes.tools.kubectl.commands._group import group

SUMMARY = "Display resource (CPU/memory) usage"
USAGE = "top [flags]"
FLAGS = ()
run = group()
