"""Trees of files are built as the real kubectl builds them: same output, same errors, same exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.kubectl.kustomize.compare import Tree, expected, ours, trees
from tests.tools.kubectl.kustomize.random_trees import Maker


@pytest.mark.parametrize("tree", trees(), ids=lambda tree: tree.name)
def test_a_tree_is_built_as_the_original_builds_it(tree: Tree, tmp_path: Path) -> None:
    tree.write(tmp_path)
    assert ours([str(tmp_path), *tree.arguments]) == expected(tree, tmp_path)


@pytest.mark.parametrize("seed", range(16))
def test_a_random_tree_is_built_as_the_original_builds_it(seed: int, tmp_path: Path) -> None:
    tree = Maker(seed).tree()
    tree.write(tmp_path)
    assert ours([str(tmp_path)]) == expected(tree, tmp_path)


def test_there_are_many_trees() -> None:
    assert len(trees()) >= 190
    assert len({tree.name for tree in trees()}) == len(trees())
