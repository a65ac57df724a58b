"""The order of the steps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pybernetes.control_plane.apiserver.pipeline.pipeline import steps

ORDER = [
    "observation", "audit_refused", "authentication", "audit", "deadline", "impersonation", "flow_control",
    "authorization",
]  # fmt: skip


def names(auditor: Any, dispatcher: Any) -> list[str]:
    context: Any = SimpleNamespace(metrics=None, authentication=None, authorize=None, authorization=None)
    return [step.__qualname__.partition(".")[0] for step in steps(context, auditor, dispatcher)]


def test_all_steps() -> None:
    assert names(SimpleNamespace(), SimpleNamespace()) == ORDER


def test_auditing_and_flow_control_may_be_off() -> None:
    off = ("audit", "audit_refused", "flow_control")
    assert names(None, None) == [name for name in ORDER if name not in off]
