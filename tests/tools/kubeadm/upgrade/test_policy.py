"""Which versions an upgrade may go to."""

from __future__ import annotations

import pytest

from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.upgrade import policy


@pytest.mark.parametrize(
    ("target", "current", "kubelets", "mandatory", "skippable"),
    [
        ("v1.37.0", "v1.36.2", ["v1.36.2"], 0, 0),
        ("v1.37.1", "v1.37.0", [], 0, 1),
        ("v1.38.0", "v1.37.0", [], 1, 0),
        ("v1.37.0", "v1.35.0", [], 1, 0),
        ("v1.35.0", "v1.37.0", [], 2, 1),
        ("v1.37.0", "v1.37.0", ["v1.33.9"], 0, 1),
        ("v1.37.0-rc.1", "v1.36.0", [], 0, 1),
    ],
)
def test_upgrades(target: str, current: str, kubelets: list[str], mandatory: int, skippable: int) -> None:
    problems = policy.problems(target, current, "v1.37.0", kubelets)
    assert (len(problems.mandatory), len(problems.skippable)) == (mandatory, skippable)
    if mandatory or skippable:
        with pytest.raises(KubeadmError, match="the version argument is invalid due to these"):
            policy.check(problems, force=False)
    if not mandatory:
        assert policy.check(problems, force=True).count("\t- ") == skippable
