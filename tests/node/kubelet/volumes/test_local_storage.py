"""Which volumes take up the node's disk."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.volumes.local_storage import is_ephemeral, is_local


@pytest.mark.parametrize(
    ("volume", "ephemeral", "local"),
    [
        ({"emptyDir": None}, True, True),
        ({"emptyDir": {"medium": "Memory"}}, False, False),
        ({"configMap": {"name": "m"}}, True, True),
        ({"hostPath": {"path": "/x"}}, False, True),
        ({"persistentVolumeClaim": {"claimName": "c"}}, False, False),
    ],
)
def test_volumes_on_the_nodes_disk(volume: Object, ephemeral: bool, local: bool) -> None:
    assert (is_ephemeral(volume), is_local(volume)) == (ephemeral, local)
