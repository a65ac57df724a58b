"""From a decision to a binding: what plugins may do on the way, added by a file and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import PODS
from pybernetes.control_plane.scheduler.scheduler import Scheduler
from pybernetes.scheduling.config import Configuration, profile_config
from pybernetes.scheduling.registry import PACKAGE
from tests.added_files import added_file
from tests.cluster import Cluster
from tests.control_plane.scheduler.helpers import add_node, condition, is_on, message, scheduling
from tests.scheduling.builders import node, pod
from tests.support import eventually

SEATS = '''
"""Seats: a plugin with something to do at every point from reserve to postBind."""

import asyncio

from pybernetes.scheduling.cluster_events import NODE, Action, Interest
from pybernetes.scheduling.plugin import (
    BindingError,
    BindPlugin,
    PermitPlugin,
    PostBindPlugin,
    PreBindPlugin,
    Rejection,
    ReservePlugin,
)


class Seats(ReservePlugin, PermitPlugin, PreBindPlugin, BindPlugin, PostBindPlugin):
    name = "Seats"
    points = ("reserve", "permit", "preBind", "bind", "postBind")

    def __init__(self, handle, arguments):
        super().__init__(handle, arguments)
        self.left = arguments["seats"]
        self.calls = []
        self.open = asyncio.Event()

    @classmethod
    def default_arguments(cls, given):
        return {"seats": 1, **given}

    @classmethod
    def check_arguments(cls, arguments, path, errors):
        if arguments.get("seats", 1) < 0:
            errors.invalid(path / "seats", arguments["seats"], "must not be negative")

    def reserve(self, pod):
        self.calls.append(("reserve", pod.name))
        if not self.left:
            return Rejection(self.name, "node(s) had no free seat")
        self.left -= 1
        return None

    def unreserve(self, pod):
        self.calls.append(("unreserve", pod.name))
        if ("reserve", pod.name) in self.calls and not pod.name.startswith("standing"):
            self.left += 1

    def permit(self, pod):
        self.calls.append(("permit", pod.name))
        if pod.name == "banned":
            return Rejection(self.name, "node(s) were told not to")
        return self.wait(pod) if pod.name in ("patient", "hopeless") else None

    async def wait(self, pod):
        await self.open.wait()
        return Rejection(self.name, "node(s) closed their doors") if pod.name == "hopeless" else None

    def pre_bind(self, pod):
        self.calls.append(("pre_bind", pod.name))
        return self.prepare(pod) if pod.name == "clumsy" else None

    async def prepare(self, pod):
        if not self.open.is_set():
            raise BindingError("the seat broke")

    def bind(self, pod):
        self.calls.append(("bind", pod.name))
        return None  # the next one does it

    def post_bind(self, pod):
        self.calls.append(("post_bind", pod.name))

    def interests(self):
        return (Interest(NODE, Action.ADD),)


PLUGIN = Seats
'''


@pytest.fixture(autouse=True)
def file(tmp_path: Path) -> Iterator[None]:
    """Yield the plugin's file, in a folder of its own."""
    with added_file(PACKAGE, tmp_path, "seats", SEATS):
        yield


def configuration(seats: int = 10) -> Configuration:
    # What is turned on for a point alone comes before what is there by default.
    profile: Object = {
        "plugins": {
            "multiPoint": {"enabled": [{"name": "Seats"}]},
            "bind": {"enabled": [{"name": "Seats"}]},
        },
        "pluginConfig": [{"name": "Seats", "args": {"seats": seats}}],
    }
    return Configuration(profiles=[profile_config(profile, 0)])


@asynccontextmanager
async def seated(seats: int = 10) -> AsyncIterator[tuple[Client, Scheduler, Any]]:
    """Yield a cluster with one node, its scheduler, and the plugin."""
    async with Cluster() as cluster, scheduling(cluster.client, configuration(seats)) as scheduler:
        await add_node(cluster.client, node("n", cpu="100"))
        yield cluster.client, scheduler, scheduler.profiles["default-scheduler"].plugins["Seats"]


def points_of(plugin: Any, name: str) -> list[str]:
    return [point for point, pod_name in plugin.calls if pod_name == name]


async def test_every_point_is_called_in_order() -> None:
    async with seated() as (client, scheduler, plugin):
        names = scheduler.profiles["default-scheduler"].names
        assert names["bind"] == ["Seats", "DefaultBinder"]
        await client.create(PODS, pod("guest"))
        await eventually(lambda: is_on(client, "guest", "n"))
        await eventually(lambda: points_of(plugin, "guest")[-1] == "post_bind")
        assert points_of(plugin, "guest") == ["reserve", "permit", "pre_bind", "bind", "post_bind"]
        assert plugin.left == 9


async def test_a_pod_waits_for_permission() -> None:
    async with seated() as (client, _, plugin):
        await client.create(PODS, pod("patient"))
        await eventually(lambda: "permit" in points_of(plugin, "patient"))
        await client.create(PODS, pod("guest"))  # nobody waits for it
        await eventually(lambda: is_on(client, "guest", "n"))
        assert not await is_on(client, "patient", "n")
        plugin.open.set()
        await eventually(lambda: is_on(client, "patient", "n"))


@pytest.mark.parametrize(
    ("name", "reason"),
    [("banned", "were told not to"), ("hopeless", "closed their doors")],
)
async def test_a_pod_that_is_not_permitted_gives_everything_back(name: str, reason: str) -> None:
    async with seated() as (client, scheduler, plugin):
        plugin.open.set()
        await client.create(PODS, pod(name))
        await eventually(lambda: message(client, name))
        assert await message(client, name) == f"0/1 nodes are available: 1 node(s) {reason}."
        assert condition(await client.get(PODS, name, "default"))["reason"] == "Unschedulable"
        assert points_of(plugin, name) == ["reserve", "permit", "unreserve"]
        assert plugin.left == 10 and int(scheduler.snapshot.pod_count.sum()) == 0
        assert scheduler.queue.refused() == {("Seats", "default-scheduler"): 1}


async def test_without_a_reservation_a_pod_waits_for_an_event() -> None:
    async with seated(seats=0) as (client, _, plugin):
        await client.create(PODS, pod("standing"))
        await eventually(lambda: message(client, "standing"))
        assert await message(client, "standing") == "0/1 nodes are available: 1 node(s) had no free seat."
        plugin.left = 1
        await add_node(client, node("another"))
        await eventually(lambda: "post_bind" in points_of(plugin, "standing"))


async def test_what_goes_wrong_before_the_binding_is_tried_again() -> None:
    async with seated() as (client, _, plugin):
        await client.create(PODS, pod("clumsy"))
        await eventually(lambda: message(client, "clumsy"))
        assert await message(client, "clumsy") == "binding rejected: the seat broke"
        assert "unreserve" in points_of(plugin, "clumsy")
        plugin.open.set()
        await eventually(lambda: is_on(client, "clumsy", "n"))
