"""list: the local clusters."""

from __future__ import annotations

import argparse
import sys

SUMMARY = "List the local clusters"


def main(argv: list[str]) -> int:
    """Print every cluster and whether it runs; the exit code is 1 if one of them cannot be told about."""
    argparse.ArgumentParser(prog="pyb list", description=SUMMARY).parse_args(argv)
    from pybernetes.tools.local import lifecycle, paths, settings
    from pybernetes.tools.local.network import server_address

    rows, failures = [("NAME", "STATE", "NODES", "HOLLOW", "ADDRESS")], []
    for cluster in paths.clusters():
        try:
            saved = settings.load(cluster)
        except settings.SettingsError as error:
            failures.append(f"pyb list: {cluster.name}: {error}")
            continue
        state = "paused" if saved.paused else "running" if lifecycle.running_processes(cluster) else "stopped"
        rows.append(
            (cluster.name, state, str(len(saved.nodes)), str(saved.hollow), server_address.server_of(saved))
        )
    for row in rows:
        print(f"{row[0]:<24} {row[1]:<8} {row[2]:<6} {row[3]:<7} {row[4]}")
    for failure in failures:
        print(failure, file=sys.stderr)
    return int(bool(failures))
