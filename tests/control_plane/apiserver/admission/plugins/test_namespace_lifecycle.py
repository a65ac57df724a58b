"""NamespaceLifecycle: what it sets, and what it refuses."""

from __future__ import annotations

import pytest

from pybernetes.api.errors import StatusError
from tests.control_plane.apiserver.admission.world import World, pod
from tests.support import run

GOING = {
    "metadata": {"name": "one", "deletionTimestamp": "2026-01-01T00:00:00Z"},
    "status": {"phase": "Terminating"},
}


def test_namespace_lifecycle() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("NamespaceLifecycle")
            assert not await world.refusal(chain, "pods", pod())
            assert not await world.refusal(chain, "nodes", {"metadata": {"name": "n"}})
            assert (
                await world.refusal(chain, "pods", pod(), namespace="gone") == 'namespaces "gone" not found'
            )
            review = "localsubjectaccessreviews.authorization.k8s.io"
            assert not await world.refusal(chain, review, {"metadata": {}}, namespace="gone")
            await world.add("", "namespaces", GOING)
            with pytest.raises(StatusError) as caught:
                await world.admit(chain, "pods", pod("", metadata={"generateName": "web-"}))
            assert caught.value.message == (
                'pods "web-" is forbidden: unable to create new content in namespace one because it is being terminated'
            )
            assert (caught.value.details or {})["causes"] == [
                {
                    "reason": "NamespaceTerminating",
                    "message": "namespace one is being terminated",
                    "field": "metadata.namespace",
                }
            ]
            assert not await world.refusal(chain, "pods", pod(), pod())
            for name in ("default", "kube-system", "kube-public"):
                problem = await world.refusal(chain, "namespaces", None, operation="DELETE", name=name)
                assert problem == f'namespaces "{name}" is forbidden: this namespace may not be deleted'
            assert not await world.refusal(chain, "namespaces", None, operation="DELETE", name="one")

    run(test())
