"""ProvisioningRequests against a real API server: capacity is found or made, kept, used, and given up."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.errors import Forbidden, NotFound
from pybernetes.client.refs import EVENTS, POD_TEMPLATES, PODS
from pybernetes.control_plane.autoscaler.provisioning.provisioning_requests import (
    BEST_EFFORT_ATOMIC,
    CHECK_CAPACITY,
    PROVISIONING_REQUESTS,
)
from pybernetes.tools.local.addons import provisioning_request
from tests.control_plane.autoscaler.fakes import FakeCloud, FakeGroup, node
from tests.control_plane.autoscaler.worlds import World, world
from tests.support import eventually

ADDON = provisioning_request.definition()
ENABLED = "--enable-provisioning-requests"
CONSUMES = "cluster-autoscaler.kubernetes.io/consume-provisioning-request"


async def ask(there: World, name: str, kind: str, count: int, cpu: str = "1", **parameters: str) -> None:
    """Create a request for pods, and wait until the autoscaler has seen it."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    await there.client.create(
        POD_TEMPLATES,
        {
            "metadata": {"name": name, "namespace": "default"},
            "template": {"spec": {"containers": [container]}},
        },
    )
    spec: dict[str, Any] = {
        "provisioningClassName": kind, "podSets": [{"count": count, "podTemplateRef": {"name": name}}],
        "parameters": parameters,
    }  # fmt: skip
    await there.client.create(
        PROVISIONING_REQUESTS, {"metadata": {"name": name, "namespace": "default"}, "spec": spec}
    )
    provisioning = there.autoscaler.provisioning
    assert provisioning is not None
    await eventually(lambda: f"default/{name}" in provisioning.requests)


async def said(there: World, name: str) -> dict[str, tuple[str, str]]:
    """Return the conditions of a request: status and reason by type."""
    request = await there.client.get(PROVISIONING_REQUESTS, name, "default")
    listed = request.get("status", {}).get("conditions", ())
    return {entry["type"]: (entry["status"], entry["reason"]) for entry in listed}


async def test_capacity_that_is_there_is_kept_for_a_while() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3, 1)), ENABLED, addon=ADDON) as there:
        await there.give("g")
        await ask(there, "a", CHECK_CAPACITY, 2, "900m")
        await there.run()
        assert await said(there, "a") == {
            "Accepted": ("True", "Accepted"),
            "Provisioned": ("True", "CapacityIsFound"),
        }
        # It is not there for another, and the node is needed however long nothing runs on it.
        await ask(there, "b", CHECK_CAPACITY, 1, "500m", noRetry="true")
        await there.run()
        assert (await said(there, "b"))["Failed"] == ("True", "CapacityIsNotFound")
        await there.later(120)
        await there.later(120)
        assert there.cloud.calls == []
        # A pod of its own asks for no node: there is room for it.
        await there.pod("p", cpu="900m", annotations={CONSUMES: "a"})
        await there.run()
        await there.autoscaler._sender.flush()
        events = [event["message"] for event in (await there.client.list(EVENTS)).items]
        assert any("it's consuming ProvisioningRequest default/a" in text for text in events)
        assert there.cloud.calls == []
        await there.client.delete(PODS, "p", "default", grace=0)
        await there.later(400)
        assert (await said(there, "a"))["BookingExpired"] == ("True", "CapacityReservationTimeExpired")
        await there.later(61)
        await there.later(61)
        await eventually(lambda: ("delete", "g", ["fake://g-0"]) in there.cloud.calls)


async def test_nodes_are_added_for_all_pods_or_for_none() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3)), ENABLED, addon=ADDON) as there:
        await ask(there, "large", BEST_EFFORT_ATOMIC, 7)
        again = await there.run()
        assert there.cloud.calls == [] and again <= 61
        assert (await said(there, "large"))["Provisioned"] == ("False", "CapacityIsNotFound")
        await ask(there, "fits", BEST_EFFORT_ATOMIC, 6)
        await there.run()
        assert there.cloud.calls == [("increase", "g", 3)]
        assert (await said(there, "fits"))["Provisioned"] == ("True", "CapacityIsProvisioned")
        # What is on its way is kept for it.
        await ask(there, "late", CHECK_CAPACITY, 1)
        await there.run()
        assert (await said(there, "late"))["Provisioned"] == ("False", "CapacityIsNotFound")
        await there.register("g")
        for number in range(6):
            await there.pod(f"p{number}", f"g-{number // 2}", annotations={CONSUMES: "fits"})
        await there.run()
        assert (await said(there, "fits"))["BookingExpired"] == ("True", "CapacityBookingConsumed")


async def test_what_cannot_be_fails_and_says_why() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3, failure="no machines left")), ENABLED, addon=ADDON) as there:
        spec = {
            "provisioningClassName": CHECK_CAPACITY,
            "podSets": [{"count": 1, "podTemplateRef": {"name": "none"}}],
        }
        meta = {"name": "without", "namespace": "default"}
        await there.client.create(PROVISIONING_REQUESTS, {"metadata": meta, "spec": spec})
        await eventually(
            lambda: bool(there.autoscaler.provisioning and there.autoscaler.provisioning.requests)
        )
        await there.run()
        assert await said(there, "without") == {"Failed": ("True", "FailedToCreatePods")}
        # The cloud refuses: it is tried again, later each time.
        await ask(there, "refused", BEST_EFFORT_ATOMIC, 1)
        await there.run()
        assert (await said(there, "refused"))["Provisioned"] == ("False", "CapacityIsNotFound")
        await there.later(30)
        assert len(there.cloud.calls) == 1
        there.cloud.groups["g"].failure = ""
        await there.later(31 + 300)  # the group has rested, too
        assert there.cloud.calls[-1] == ("increase", "g", 1) and len(there.cloud.calls) == 2
        assert (await said(there, "refused"))["Provisioned"] == ("True", "CapacityIsProvisioned")
        await there.later(8 * 86400)
        with pytest.raises(NotFound):
            await there.client.get(PROVISIONING_REQUESTS, "without", "default")


async def test_several_are_checked_in_one_pass() -> None:
    async with world(
        FakeCloud(g=FakeGroup(0, 3, 1)), ENABLED, "--check-capacity-batch-processing", addon=ADDON
    ) as there:
        await there.give("g")
        for name in ("a", "b", "c"):
            await ask(there, name, CHECK_CAPACITY, 1, "900m")
        await there.run()
        answers = [(await said(there, name))["Provisioned"][0] for name in ("a", "b", "c")]
        assert answers == ["True", "True", "False"]


async def test_a_node_that_comes_meanwhile_is_not_counted_twice() -> None:
    """As one that is on its way, and as one that is there."""

    class Slow(FakeCloud):
        made: World | None = None

        async def template(self, group: str) -> Object:
            if self.made is not None:
                cluster = self.made.autoscaler.cluster
                cluster.set_node("g-0", cluster.read_node(node("g-0", group="g", provider_id="fake://g-0")))
            return await super().template(group)

    cloud = Slow(g=FakeGroup(0, 1, 1))
    async with world(cloud, ENABLED, addon=ADDON) as there:
        cloud.give("g", 1)
        await ask(there, "a", CHECK_CAPACITY, 2)
        await there.run()
        assert (await said(there, "a"))["Provisioned"] == ("True", "CapacityIsFound")
        await ask(there, "b", CHECK_CAPACITY, 2)
        cloud.made = there
        there.autoscaler.groups._templates.clear()
        await there.run()
        assert (await said(there, "b"))["Provisioned"] == ("False", "CapacityIsNotFound")


async def test_a_request_of_which_nothing_can_be_said_holds_up_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3)), ENABLED, addon=ADDON) as there:
        patch = there.client.patch

        async def refuse(kind: Any, name: str, *rest: Any, **more: Any) -> Any:
            if name == "a":
                raise Forbidden(403, "Forbidden", "it may not")
            return await patch(kind, name, *rest, **more)

        monkeypatch.setattr(there.client, "patch", refuse)
        await ask(there, "a", BEST_EFFORT_ATOMIC, 1)
        await ask(there, "b", BEST_EFFORT_ATOMIC, 1)
        await there.pod("p", cpu="1500m")
        await there.run()
        assert there.cloud.calls == [("increase", "g", 1)]  # for the pod
        await there.run()
        again = await there.run()
        assert (await said(there, "b"))["Provisioned"][0] == "True" and await said(there, "a") == {}
        assert again > 1
