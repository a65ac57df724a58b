"""Compares all trees and prints where they differ: ``python -m tests.tools.kubectl.kustomize.run_trees [part of a name]``."""

from __future__ import annotations

import difflib
import sys
import tempfile
from pathlib import Path

from tests.tools.kubectl.kustomize.compare import ours, real, trees, version


def main(wanted: str) -> int:
    """Compare, and return how many differ."""
    count = different = 0
    for tree in trees():
        if wanted not in tree.name or tree.since > version():
            continue
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            tree.write(Path(folder))
            line = [folder, *tree.arguments]
            mine, theirs = ours(line), real(line)
        if mine != theirs:
            different += 1
            print(f"=== {tree.name}: {mine.code} {theirs.code}")
            for left, right in ((theirs.output, mine.output), (theirs.errors, mine.errors)):
                lines = difflib.unified_diff(
                    left.splitlines(), right.splitlines(), "theirs", "ours", lineterm="", n=1
                )
                print("\n".join(list(lines)[:30]))
    print(f"{count} trees, {different} differ")
    return different


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "") > 0)
