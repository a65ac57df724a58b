"""auth: what users may do, and who one is."""

from pybernetes.tools.kubectl.commands._group import group

SUMMARY = "Inspect authorization"
USAGE = "auth [flags]"
FLAGS = ()
run = group()
