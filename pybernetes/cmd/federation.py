"""federation: makes a cluster the host of a federation."""

from __future__ import annotations

import argparse

SUMMARY = "Make a cluster the host of a federation: pyb federation init"
_VERBS = "pybernetes.tools.federation.commands"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with all verbs."""
    from pybernetes.lib import discover

    result = argparse.ArgumentParser(prog="pyb federation", description=SUMMARY, allow_abbrev=False)
    verbs = result.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name in discover.names(_VERBS):
        module = discover.load(_VERBS, name)
        verb = verbs.add_parser(name, help=module.SUMMARY, description=module.SUMMARY, allow_abbrev=False)
        module.add_arguments(verb)
        verb.set_defaults(run=module.run)
    return result


def main(argv: list[str]) -> int:
    """Run a verb."""
    arguments = parser().parse_args(argv)
    from pybernetes.tools.federation.kubefedctl import told

    return told("pyb federation: ", lambda: arguments.run(arguments))
