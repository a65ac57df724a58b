"""kubectl-bundle: kubectl as one file that can be copied into a container."""

from __future__ import annotations

import argparse
from pathlib import Path

SUMMARY = "Make one file of kubectl that runs where there is no Python, as in a container"


def main(argv: list[str]) -> int:
    """Write the file."""
    parser = argparse.ArgumentParser(prog="pyb kubectl-bundle", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("target", type=Path, nargs="?", default=Path("kubectl"), help="the file to write")
    options = parser.parse_args(argv)
    from pybernetes.tools.kubectl.bundle import build

    size = build(options.target)
    print(f"{options.target}: {size / 1e6:.1f} MB")
    return 0
