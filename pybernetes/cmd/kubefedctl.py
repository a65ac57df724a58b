"""kubefedctl: joins clusters to a federation, and federates kinds and objects."""

from __future__ import annotations

SUMMARY = "Control a federation: join and unjoin clusters, federate kinds and objects"


def main(argv: list[str]) -> int:
    """Run a verb of kubefedctl."""
    from pybernetes.tools.federation.kubefedctl import main as run

    return run(argv)
