"""Pods that ask for AppArmor run only where it is enforced."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.pod_admission.app_armor import app_armor_problem
from tests.node.kubelet.pods import pod

_OFF = "AppArmor is not enabled on the host"


def _context(kind: str, name: str = "") -> dict[str, Any]:
    profile = {"type": kind, **({"localhostProfile": name} if name else {})}
    return {"securityContext": {"appArmorProfile": profile}}


@pytest.mark.parametrize(
    ("spec", "enabled", "problem"),
    [
        ({}, False, None),
        (_context("Unconfined"), False, None),
        (_context("RuntimeDefault"), False, _OFF),
        (_context("RuntimeDefault"), True, None),
        ({"initContainers": [_context("Localhost", "x")]}, False, _OFF),
        ({"initContainers": [_context("Localhost", "x")]}, True, None),
        ({"ephemeralContainers": [_context("Localhost")]}, True, 'invalid empty AppArmor profile name: ""'),
        (
            {"ephemeralContainers": [_context("Localhost", " ")]},
            True,
            'invalid empty AppArmor profile name: ""',
        ),
    ],
)
def test_what_cannot_be_enforced(spec: dict[str, Any], enabled: bool, problem: str | None) -> None:
    assert app_armor_problem(pod(**spec)["spec"], enabled) == problem
