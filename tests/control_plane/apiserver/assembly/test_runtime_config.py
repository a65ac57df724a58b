"""Which kinds are served."""

from __future__ import annotations

import pytest

from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.assembly.runtime_config import served

ALL = {f"{kind.api_version}/{kind.plural}" for kind in builtin()}


@pytest.mark.parametrize(
    ("texts", "missing"),
    [
        ([], set()),
        (["api/all=true"], set()),
        (["api/beta=false", "api/alpha=true"], set()),
        (["autoscaling/v1=false"], {"autoscaling/v1/horizontalpodautoscalers"}),
        (["apps/v1/daemonsets=false"], {"apps/v1/daemonsets"}),
        (["batch/v1=false", "batch/v1/jobs=true"], {"batch/v1/cronjobs"}),
        (["batch/v1/jobs=true", "batch/v1=false"], {"batch/v1/cronjobs"}),
        (["batch/v1"], set()),
        (["resource.k8s.io/v1beta1=false"], set()),
    ],
)
def test_served(texts: list[str], missing: set[str]) -> None:
    assert ALL - {f"{kind.api_version}/{kind.plural}" for kind in served(texts, builtin())} == missing


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("api/all=maybe", "invalid value api/all=maybe"),
        ("apps/v1=maybe", "invalid value of apps/v1: maybe"),
        ("apps/v7=true", "group version apps/v7 that has not been registered"),
        ("nowhere/v1=true", "unknown api groups nowhere"),
        ("apps/v1/Deployments=true", 'lowercase plural, not "Deployments"'),
        ("resource.k8s.io/v1beta1=true", "resource.k8s.io/v1beta1 is not served here"),
        ("v1=false", "this server needs v1 itself"),
        ("api/all=false", "this server needs"),
    ],
)
def test_what_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match="--runtime-config: ") as error:
        served([text], builtin())
    assert problem in str(error.value)
