"""What a runtime says that it can do."""

from __future__ import annotations

import pytest
from cri_api.v1 import api_pb2 as messages

from pybernetes.node.kubelet.cri.runtime_features import HandlerFeatures, RuntimeFeatures, runtime_features


def test_an_old_runtime_tells_nothing_and_can_do_nothing() -> None:
    features = runtime_features(messages.StatusResponse())
    assert features == RuntimeFeatures()
    assert features.handler("") == features.handler("other") == HandlerFeatures()
    assert features.node_status() == {"runtimeHandlers": []}


def test_a_new_runtime_tells_of_its_handlers() -> None:
    able = messages.RuntimeHandlerFeatures(recursive_read_only_mounts=True, user_namespaces=True)
    answer = messages.StatusResponse(
        runtime_handlers=[
            messages.RuntimeHandler(name="", features=able),
            messages.RuntimeHandler(name="sandboxed"),
        ],
        features=messages.RuntimeFeatures(supplemental_groups_policy=True),
    )
    features = runtime_features(answer)
    assert features.handler("") == HandlerFeatures(True, True)
    assert features.handler("sandboxed") == HandlerFeatures()
    with pytest.raises(ValueError, match=r'^the handler "absent" is not known$'):
        features.handler("absent")
    assert features.node_status() == {
        "runtimeHandlers": [
            {"name": "", "features": {"recursiveReadOnlyMounts": True, "userNamespaces": True}},
            {"name": "sandboxed", "features": {"recursiveReadOnlyMounts": False, "userNamespaces": False}},
        ],
        "features": {"supplementalGroupsPolicy": True},
    }
