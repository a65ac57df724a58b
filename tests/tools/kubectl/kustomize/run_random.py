"""Compares trees of seeds: ``python -m tests.tools.kubectl.kustomize.run_random FIRST COUNT`` prints where they differ."""

from __future__ import annotations

import difflib
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.tools.kubectl.kustomize.compare import ours, real
from tests.tools.kubectl.kustomize.random_trees import Maker


def main(first: int, count: int) -> int:
    """Compare, and return how many differ."""
    different = failed = 0
    with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(2) as pool:
        folders = []
        for seed in range(first, first + count):
            folder = Path(top) / str(seed)
            Maker(seed).tree().write(folder)
            folders.append(folder)
        for folder, theirs in zip(folders, pool.map(lambda path: real([str(path)]), folders), strict=True):
            mine = ours([str(folder)])
            failed += theirs.code != 0
            if mine != theirs:
                different += 1
                print(f"=== seed {folder.name}: {mine.code} {theirs.code}")
                for left, right in ((theirs.output, mine.output), (theirs.errors, mine.errors)):
                    lines = difflib.unified_diff(
                        left.splitlines(), right.splitlines(), "theirs", "ours", lineterm="", n=2
                    )
                    print("\n".join(list(lines)[:24]))
    print(f"{count} trees, {failed} of them fail, {different} differ")
    return different


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])) > 0)
