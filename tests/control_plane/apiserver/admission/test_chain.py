"""The chain: order, scopes, waiting, refusing; and what plugins look up."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import pytest

from pybernetes.api.core.pod.pod import RESOURCE as PODS
from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.chain import Chain
from pybernetes.control_plane.apiserver.admission.lookup import Lookup, Remembered
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope, failure
from pybernetes.control_plane.store.protocol import Place
from pybernetes.lib.metrics.exposition import Exposition
from tests.control_plane.apiserver.admission.world import World, pod
from tests.support import run


def noting(plugin: str, notes: list[str], covered: Scope, waits: bool = False) -> Plugin:
    """Return a plugin that writes down that it was called."""

    async def later() -> None:
        notes.append(f"{plugin} is done")

    class Noting(Plugin):
        name, scope = plugin, covered

        def __init__(self) -> None:
            """Make it without a server."""

        def mutate(self, attributes: Attributes) -> Awaitable[None] | None:
            notes.append(f"{plugin} mutates")
            return later() if waits else None

        def validate(self, attributes: Attributes) -> None:
            notes.append(f"{plugin} judges")

    return Noting()


def attributes(operation: str = CREATE, subresource: str = "", **more: Any) -> Attributes:
    return Attributes(
        operation, PODS, "one", more.pop("name", "p"), more.pop("obj", None), None, subresource=subresource
    )


def test_plugins_run_in_order_and_within_their_scope() -> None:
    notes: list[str] = []
    chain = Chain(
        [
            noting("first", notes, Scope(resources=("pods",)), waits=True),
            noting("elsewhere", notes, Scope(resources=("pods.example.com",))),
            noting("later", notes, Scope(operations=(UPDATE,))),
            noting("below", notes, Scope(subresources=("status",))),
            noting("last", notes, Scope(subresources=None)),
        ]
    )

    async def test() -> None:
        await chain.mutate(attributes())
        await chain.validate(attributes())
        assert notes == ["first mutates", "first is done", "last mutates", "first judges", "last judges"]
        notes.clear()
        await chain.validate(attributes(UPDATE, "status"))
        assert notes == ["below judges", "last judges"]
        notes.clear()
        await chain.validate(attributes(UPDATE))
        assert notes == ["first judges", "later judges", "last judges"]

    run(test())


async def test_a_plugin_that_is_idle_is_asked_again_when_something_changed() -> None:
    notes: list[str] = []
    place = Place(1)

    class Registered(Plugin):
        name, scope, places = "Registered", Scope(), (place,)

        def __init__(self) -> None:
            """Make it without a server."""

        def is_idle(self, operation: str, resource: str, subresource: str) -> bool:
            notes.append(f"{operation} {resource} {subresource}?")
            return place.changed % 2 == 1

        def validate(self, attributes: Attributes) -> None:
            notes.append("judges")

    chain = Chain([Registered(), noting("other", notes, Scope())])
    for _ in range(2):
        await chain.validate(attributes())
    place.changed = 2
    for _ in range(2):
        await chain.admit(attributes())
    place.changed = 3
    await chain.validate(attributes())
    assert notes == [
        "CREATE pods ?", "other judges", "other judges",
        "CREATE pods ?", "other mutates", "judges", "other judges", "other mutates", "judges", "other judges",
        "CREATE pods ?", "other judges",
    ]  # fmt: skip
    out = Exposition()
    chain.durations.render(out)
    counted = 'admission_duration_seconds_count{name="Registered",operation="CREATE",rejected="false",type="validate"} 5'
    assert counted in out.render().decode(), "who is idle lets a write pass like any other"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "p"}, 'pods "p" is forbidden: no'),
        ({"name": "", "obj": {"metadata": {"generateName": "p-"}}}, 'pods "p-" is forbidden: no'),
        (
            {"name": "", "obj": {"metadata": {"generateName": "p-", "name": "p-x"}}},
            'pods "p-x" is forbidden: no',
        ),
        ({"name": ""}, 'pods "Unknown" is forbidden: no'),
    ],
)
def test_a_refusal_names_the_object(given: dict[str, Any], message: str) -> None:
    with pytest.raises(StatusError) as caught:
        attributes(**given).refuse("no")
    assert caught.value.message == message and caught.value.code == 403
    assert failure("x").body()["code"] == 500


def test_lookups_follow_the_store_and_decode_once() -> None:
    async def test() -> None:
        async with World() as world:
            lookup = Lookup(world.context, "", "limitranges")
            assert lookup.all("one") == () and lookup.all("one") is lookup.all("one")
            await world.add("", "limitranges", {"metadata": {"name": "a"}}, "two")
            empty = lookup.all("one")
            await world.add("", "limitranges", {"metadata": {"name": "b"}}, "two")
            assert lookup.all("one") is empty, "a change elsewhere is none here"
            assert [limit["metadata"]["name"] for limit in lookup.all("two")] == ["a", "b"]
            assert lookup.get("two", "a") is lookup.get("two", "a")
            await world.add("", "limitranges", {"metadata": {"name": "a"}, "spec": {"limits": []}}, "two")
            assert (lookup.get("two", "a") or {}).get("spec") == {"limits": []}
            assert lookup.get("two", "c") is None
            assert [limit["metadata"]["name"] for limit in lookup.all_objects("two")] == ["a", "b"]

    run(test())


def test_what_follows_from_an_object_is_computed_once() -> None:
    calls: list[object] = []

    def compute(source: object) -> int:
        calls.append(source)
        return len(calls)

    remembered = Remembered(compute)
    first, second = ("a",), ("b",)
    assert [remembered.of("x", first), remembered.of("x", first), remembered.of("x", second)] == [1, 1, 2]
    assert remembered.of("y", second) == 3


def test_always_deny_and_always_admit() -> None:
    async def test() -> None:
        async with World() as world:
            denied = await world.refusal(world.chain("AlwaysAdmit", "AlwaysDeny"), "pods", pod())
            assert denied == 'pods "p" is forbidden: admission control is denying all modifications'
            assert await world.admit(world.chain("AlwaysAdmit"), "pods", pod()) == pod()

    run(test())
