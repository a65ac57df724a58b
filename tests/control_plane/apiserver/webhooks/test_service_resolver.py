"""A service is reached at its endpoints."""

from __future__ import annotations

import asyncio

import pytest

from pybernetes.control_plane.apiserver.webhooks.caller import Caller, CallFailed
from tests.control_plane.apiserver.admission.world import World
from tests.hook_server import HookServer


def test_a_service_is_reached_at_its_endpoints(hooks: HookServer) -> None:
    async def scenario() -> None:
        async with World() as world:
            caller = Caller(world.context)
            reference = {"namespace": "default", "name": "hook", "path": "/here", "port": 8443}
            config = {"service": reference, "caBundle": hooks.bundle}
            review = {"kind": "AdmissionReview", "apiVersion": "v1", "request": {"uid": "u"}}
            service = {"metadata": {"name": "hook"}, "spec": {"ports": [{"name": "https", "port": 8443}]}}
            await world.add("", "services", service, "default")
            with pytest.raises(CallFailed, match='no endpoints available for service "hook"'):
                await caller.post(config, review, 10, lambda value: value)
            piece = {
                "metadata": {"name": "hook-1", "labels": {"kubernetes.io/service-name": "hook"}},
                "endpoints": [
                    {"addresses": ["127.0.0.2"], "conditions": {"ready": False}},
                    {"addresses": ["127.0.0.1"]},
                ],
                "ports": [{"name": "https", "port": hooks.port}],
            }
            await world.add("discovery.k8s.io", "endpointslices", piece, "default")
            said = await caller.post(config, review, 10, lambda value: value["response"])
            assert said == {"uid": "u", "allowed": True}
            assert hooks.asked[0][0] == "/here"
            with pytest.raises(CallFailed, match="no service port 1 found"):
                await caller.post({"service": {**reference, "port": 1}}, review, 10, lambda value: value)
            world.context.https.close()

    asyncio.run(scenario())
