"""Every target on its corpus and on a number of inputs that are always the same."""

from __future__ import annotations

import pytest

from fuzz import command
from fuzz.engine import corpus
from fuzz.engine.campaign import Campaign
from pybernetes.lib import discover

NAMES = [
    "apply", "cel", "cni", "corefile", "cri", "dns", "etcd_events", "etcd_snapshot", "grpc_frames", "http_request", "http_response", "json_patch", "json_text",
    "jsonpath", "kubeconfig", "merge_patch", "netlink", "oci_image", "protobuf", "quantity", "selectors", "spdy", "strategic_patch", "tar_archive", "websocket",
    "yaml_text",
]  # fmt: skip
SEED, RUNS = 14, 1200


def test_the_targets() -> None:
    assert discover.names(command.TARGETS) == NAMES
    assert {path.name for path in corpus.CORPUS.iterdir()} <= {*NAMES, command.SERVER}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_its_kind_does_harm(name: str) -> None:
    campaign = Campaign(name, command.load(name), SEED)
    campaign.run(RUNS)
    assert [(failure.kind, failure.text, data) for failure, data in campaign.failures] == []
