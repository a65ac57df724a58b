"""Programs beside runc: what containerd is told, and what the user is when one is missing."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from pybernetes.node.containerd import config, runtimes


def test_containerd_gets_a_handler_for_each() -> None:
    paths = config.ContainerdPaths(Path("/r"), Path("/s"))
    text = config.text(
        paths,
        cni_plugins=Path("/c"),
        systemd_cgroups=False,
        restrict_oom_score=False,
        runtimes=list(runtimes.PROGRAMS.values()),
    )
    handlers = tomllib.loads(text)["plugins"]["io.containerd.grpc.v1.cri"]["containerd"]["runtimes"]
    assert {name: handler["runtime_type"] for name, handler in handlers.items()} == {
        "runc": "io.containerd.runc.v2",
        "crun": "io.containerd.runc.v2",
        "runsc": "io.containerd.runsc.v1",
    }
    assert handlers["crun"]["options"]["Root"] == "/s/crun"


def test_what_is_missing_is_named_with_where_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ValueError, match="crun is not installed; apt-get install crun"):
        runtimes.check("crun")
    with pytest.raises(ValueError, match=r"gvisor\.dev has runsc and its shim"):
        runtimes.check("runsc")
    with pytest.raises(ValueError, match="is none of crun, runsc"):
        runtimes.check("kata")
