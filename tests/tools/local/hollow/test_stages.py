"""What happens to pods on hollow nodes: every file in ``cases`` has pods and what becomes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.lib import rfc3339
from pybernetes.tools.local.hollow import stage_inputs, stages

NOW = rfc3339.parse("2026-01-01T12:00:00Z")
FILES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}: {case['name']}")
        for path in FILES
        for case in yaml.safe_load_all(path.read_text())
    ]


@pytest.mark.parametrize("case", cases())
def test_case(case: dict[str, Any]) -> None:
    pod = case["pod"]
    inputs = stage_inputs.of(
        pod, now=NOW, host="172.31.0.1", address=lambda: "10.244.0.2", taken=[("TCP", port) for port in case.get("taken", ())]
    )  # fmt: skip
    stage = stages.find(stages.builtin(), pod, inputs)
    assert (stage.name if stage else None) == case["stage"]
    if stage is None:
        return
    assert stages.delay(stage, inputs) == case.get("after", 0)
    if not stage.delete:
        assert stages.status(stage, pod, inputs) == case["status"]
