"""disturb: for as long as clients work, leaders are killed and machines cut off or held, one thing after the other, at random.

With ``--seconds 60 --runs 20`` this is how it is shown that reads and writes of an object are linearizable.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site

_APART_SECONDS = (2.0, 5.0)


async def _kill_leader(site: Site) -> None:
    site.kill(site.etcd_leader(), "etcd")


async def _kill_api_server(site: Site) -> None:
    site.kill(random.choice(site.control_planes), "kube-apiserver")


async def _cut_leader_off(site: Site) -> None:
    await _apart(site, site.etcd_leader())


async def _cut_member_off(site: Site) -> None:
    await _apart(site, random.choice(site.members))


async def _cut_two_apart(site: Site) -> None:
    """Cut a member off from one other alone: both still see the rest."""
    machine, other = random.sample(site.members, 2)
    await _apart(site, machine, other)


async def _hold_leader(site: Site) -> None:
    """Hold the machine of the leader, which does not know on waking that another one has taken its place."""
    machine = site.etcd_leader()
    await site.pause(machine)
    try:
        await asyncio.sleep(random.uniform(*_APART_SECONDS))
    finally:
        await site.start(machine)


async def _apart(site: Site, machine: str, *others: str) -> None:
    await site.cut_off(machine, *others)
    try:
        await asyncio.sleep(random.uniform(*_APART_SECONDS))
    finally:
        await site.heal(machine)


DISTURBANCES: tuple[Callable[[Site], Awaitable[None]], ...] = (
    _kill_leader,
    _cut_leader_off,
    _kill_api_server,
    _cut_two_apart,
    _hold_leader,
    _cut_member_off,
)


async def _run(site: Site) -> None:
    loop = asyncio.get_running_loop()
    begin = loop.time()
    while True:
        for disturb in random.sample(DISTURBANCES, len(DISTURBANCES)):
            await site.until("etcd has a leader", lambda: bool(site.etcd_leader()))
            await disturb(site)
            site.count(disturb.__name__.strip("_").replace("_", " "))
            await site.until_well()
            if loop.time() - begin >= site.seconds > 0:
                return
        if not site.seconds:
            return


DRILL = Drill("leaders are killed, machines cut off and held, at random", _run)
