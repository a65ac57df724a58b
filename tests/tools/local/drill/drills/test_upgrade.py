"""The release that a drill upgrades to."""

from __future__ import annotations

import pytest

from pybernetes.tools.local.drill.drills.upgrade import following


@pytest.mark.parametrize(("version", "after"), [("v1.37.0", "v1.37.1"), ("v1.37.9-rc.1", "v1.37.10")])
def test_the_release_that_follows(version: str, after: str) -> None:
    assert following(version) == after
