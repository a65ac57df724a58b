"""Finds the parts of the project that are not in the installed package: tests, benchmarks, scripts."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def checkout_folder(name: str) -> Path | None:
    """Return a top-level folder of the source checkout, or print why there is none."""
    folder = ROOT / name
    if folder.is_dir():
        return folder
    print(f"pyb: {folder} does not exist; this command needs a checkout of the project.", file=sys.stderr)
    return None
