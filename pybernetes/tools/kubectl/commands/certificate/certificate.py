"""certificate: approves or denies requests for certificates."""

from pybernetes.tools.kubectl.commands._group import group

SUMMARY = "Modify certificate resources"
USAGE = "certificate SUBCOMMAND"
FLAGS = ()
run = group(code=0, to_stdout=True, any_word=True)
