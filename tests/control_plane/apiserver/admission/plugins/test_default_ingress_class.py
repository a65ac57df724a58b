"""DefaultIngressClass: what it sets, and what it refuses."""

from __future__ import annotations

from tests.control_plane.apiserver.admission.plugins.claims import storage_class
from tests.control_plane.apiserver.admission.world import World
from tests.support import run


def test_default_ingress_class() -> None:
    async def test() -> None:
        async with World() as world:
            chain, resource = world.chain("DefaultIngressClass"), "ingresses.networking.k8s.io"
            assert (
                "ingressClassName"
                not in (await world.admit(chain, resource, {"metadata": {"name": "i"}}))["spec"]
            )
            default = storage_class("a", "1", annotation="ingressclass.kubernetes.io")
            await world.add("networking.k8s.io", "ingressclasses", default)
            made = await world.admit(chain, resource, {"metadata": {"name": "i"}})
            assert made["spec"]["ingressClassName"] == "a"
            given = {"metadata": {"name": "i", "annotations": {"kubernetes.io/ingress.class": "x"}}}
            assert "ingressClassName" not in (await world.admit(chain, resource, given))["spec"]
            named = await world.admit(chain, resource, {"metadata": {}, "spec": {"ingressClassName": "x"}})
            assert named["spec"]["ingressClassName"] == "x"

    run(test())
