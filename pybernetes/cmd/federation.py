"""federation: makes clusters a federation, on this machine or elsewhere, and shows how it does."""

from __future__ import annotations

import argparse

SUMMARY = "Make clusters a federation, on this machine (up, delete) or elsewhere (init), and show how it does (status)"
_PACKAGES = ("pybernetes.tools.federation.commands", "pybernetes.tools.local.federation.commands")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with all verbs."""
    from pybernetes.lib import discover

    result = argparse.ArgumentParser(prog="pyb federation", description=SUMMARY, allow_abbrev=False)
    verbs = result.add_subparsers(dest="verb", required=True, metavar="VERB")
    for package in _PACKAGES:
        for name in discover.names(package):
            module = discover.load(package, name)
            verb = verbs.add_parser(name, help=module.SUMMARY, description=module.SUMMARY, allow_abbrev=False)
            module.add_arguments(verb)
            verb.set_defaults(run=module.run)
    return result


def main(argv: list[str]) -> int:
    """Run a verb."""
    arguments = parser().parse_args(argv)
    from pybernetes.tools.federation.kubefedctl import told
    from pybernetes.tools.local.paths import ClusterError

    return told("pyb federation: ", lambda: arguments.run(arguments), ClusterError)
