"""Flags for what this autoscaler cannot do."""

from __future__ import annotations

import pytest

from pybernetes.cmd import cluster_autoscaler


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--cloud-provider=gce"], "'gce' is not supported, only externalgrpc is"),
        (["--capacity-quotas-enabled"], "--capacity-quotas-enabled: capacity quotas are not supported"),
        (["--nodes=1:5:group"], "--nodes: the cloud has the sizes of its groups"),
        (["--cores-total=5"], "--cores-total: wrong format"),
        (["--bypassed-scheduler-names=a,b", "--allowed-scheduler-names=b"], "subset of --allowed-scheduler-names: a is not there"),
        (["--salvo-scale-up"], "--salvo-scale-up: one group grows in a pass"),
        (["--estimator=guess"], "unknown estimator: guess"),
        ([], "No config file provided"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_name(
    flags: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cluster_autoscaler.main(flags) == 1
    assert complaint in capsys.readouterr().err
