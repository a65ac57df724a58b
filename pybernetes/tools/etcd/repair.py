"""``pyb etcd repair``: keep what is good of the embedded store, and put the rest into a folder beside it."""

from __future__ import annotations

import argparse

from pybernetes.tools.etcd import check

HELP = "keep what is good, and put the rest into a folder beside it"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    check.add_directory(parser)
    parser.set_defaults(run=repair)


def repair(arguments: argparse.Namespace) -> str:
    """Repair the embedded store, and say what became of what."""
    from pybernetes.control_plane.store.drivers.sqlite import repair as embedded

    findings, kept = embedded.repair(arguments.data_dir)
    good = f"{len(findings.rows)} keys at revision {findings.revision}"
    if kept is None:
        return f"{good}, no damage found"
    lost = f"{len(findings.damaged)} damaged records, and the file as it was, are in {kept}"
    return "\n".join([*check.damage(findings), f"Kept {good}; {lost}"])
