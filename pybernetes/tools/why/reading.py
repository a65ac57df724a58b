"""Reads what an answer depends on; the only part that talks to a server. It only reads, and asks reviews of access.

What the user may not read is left out, and the answer says so.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import Forbidden, NotFound, StatusError
from pybernetes.client.refs import (
    PODS,
    SELF_SUBJECT_ACCESS_REVIEWS,
    SELF_SUBJECT_REVIEWS,
    SELF_SUBJECT_RULES_REVIEWS,
    SUBJECT_ACCESS_REVIEWS,
    path_of,
)
from pybernetes.lib.discover import discover
from pybernetes.tools.why import access
from pybernetes.tools.why import rights as all_rights
from pybernetes.tools.why.access import User, Wish
from pybernetes.tools.why.finding import Answer, link_of
from pybernetes.tools.why.world import Need, Question, World

KINDS = "pybernetes.tools.why.kinds"
# No answer gets better by more: of a flood of events or pods these are read.
_MOST_OBJECTS = 5000
_METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"


class UnknownKind(ValueError):
    """There is nothing to be said about a kind."""


def questions() -> dict[str, Question]:
    """Return the questions that there are, by each name of their kinds."""
    kinds: Iterable[Question] = discover(KINDS, "WHY").values()
    return {name: question for question in kinds for name in question.names}


async def ask(client: Client, kind: str, name: str, namespace: str = "") -> Answer:
    """Say why an object is as it is; NotFound if there is none, UnknownKind if nothing can be said about the kind."""
    known = questions()
    question = known.get(kind.lower())
    if question is None:
        names = ", ".join(sorted({item.names[0] for item in known.values()}))
        raise UnknownKind(f"nothing can be said about {kind}; what can be asked about: {names}")
    obj = await client.get(question.ref, name, namespace if question.ref.namespaced else "")
    obj.setdefault("kind", question.ref.kind)
    world = World()
    await read(client, question.needs(obj), world)
    notes = []
    if question.ref is PODS and not obj["spec"].get("nodeName") and not obj["spec"].get("schedulingGates"):
        notes += await _explain(client, obj, world)
    state, findings = question.decide(obj, world)
    notes += [f"{ref.kind} objects could not be read: {why}" for ref, why in world.refused.items()]
    return Answer(link_of(question.ref, obj), state, findings, notes)


async def read(client: Client, needs: Iterable[Need], world: World) -> None:
    """Read objects; what may not be read is noted."""
    await asyncio.gather(*(_read(client, need, world) for need in dict.fromkeys(needs)))


async def _read(client: Client, need: Need, world: World) -> None:
    ref = need.ref
    try:
        if need.name:
            accept = _METADATA if need.metadata_only else ""
            path = path_of(ref, need.namespace if ref.namespaced else "", need.name)
            objects = [await client.call("GET", path, accept=accept)]
        else:
            page = await client.list_page(
                ref, need.namespace, labels=need.labels, fields=need.fields, limit=_MOST_OBJECTS
            )
            objects = page.items
    except NotFound:
        objects = []
    except StatusError as error:
        world.refused[ref] = str(error)
        return
    world.put(ref, objects)


async def _explain(client: Client, obj: Object, world: World) -> list[str]:
    """Ask the scheduler's rules about a pod without a node; return what kept from that."""
    from pybernetes.scheduling.explanation import explain
    from pybernetes.tools.what_if import reading
    from pybernetes.tools.what_if.reading import Progress

    try:
        cluster = await reading.read(client, progress=Progress(io.StringIO()))  # nobody asked how far it is
    except Forbidden as error:
        return [f"The scheduler's rules could not be asked about each node: {error}"]
    except (StatusError, RuntimeError) as error:
        return [f"The cluster could not be read: {error}"]
    uid, scheduler = obj["metadata"].get("uid"), obj["spec"].get("schedulerName", "default-scheduler")
    pod = next((waiting for waiting in cluster.waiting if waiting.uid == uid), None)
    cycle = cluster.cycles.get(scheduler)
    if pod is None or cycle is None:
        return []
    world.nodes = cluster.snapshot.node_count
    world.explanation = explain(cycle, pod)
    return []


async def may(client: Client, wish: Wish, user: User | None = None) -> Answer:
    """Say whether the user may do something, and what would be needed; of another user if one is given."""
    if user is None:
        review = await client.create(SELF_SUBJECT_ACCESS_REVIEWS, {"metadata": {}, "spec": wish.review()})
        user = await _self(client)
    else:
        spec = {**wish.review(), "user": user.name, "groups": list(user.groups)}
        review = await client.create(SUBJECT_ACCESS_REVIEWS, {"metadata": {}, "spec": spec})
    world = World()
    await read(client, access.needs(wish), world)
    answer = access.decide(user, wish, review.get("status") or {}, world)
    answer.notes += [f"{ref.kind} objects could not be read: {why}" for ref, why in world.refused.items()]
    return answer


async def rights(client: Client, namespace: str, user: User | None = None) -> Answer:
    """Say what the user may do in a namespace and by which roles; of another user if one is given."""
    world, reviewed = World(), []
    who = user or await _self(client)
    await read(client, all_rights.needs(namespace), world)
    notes = [f"{ref.kind} objects could not be read: {why}" for ref, why in world.refused.items()]
    if user is None and world.refused:
        review = await client.create(
            SELF_SUBJECT_RULES_REVIEWS, {"metadata": {}, "spec": {"namespace": namespace}}
        )
        status = review.get("status") or {}
        reviewed = [*(status.get("resourceRules") or ()), *(status.get("nonResourceRules") or ())]
    answer = all_rights.decide(who, namespace, world, reviewed)
    answer.notes += notes
    return answer


async def _self(client: Client) -> User:
    """Return who the user is, as far as the server tells."""
    try:
        review = await client.create(SELF_SUBJECT_REVIEWS, {"metadata": {}})
    except StatusError:
        return User("you")
    info = (review.get("status") or {}).get("userInfo") or {}
    return User(info.get("username") or "you", tuple(info.get("groups") or ()))
