"""The memory limit of the benchmark of faults, with a few attacks."""

from __future__ import annotations

import pytest

from bench.harness import memory_limit
from tests.support import require_root


@pytest.mark.slow
def test_clients_cannot_have_a_server_killed_and_its_own_data_loses_nothing() -> None:
    require_root()
    attacks = (
        "lists that nobody reads",
        "watches that nobody reads",
        "JSON of many objects",
        "a custom resource's set",
    )
    figures = memory_limit.run(150, 1.0, attacks)
    assert figures["lost"] == 0 and figures["acknowledged writes"] > memory_limit._LARGE
