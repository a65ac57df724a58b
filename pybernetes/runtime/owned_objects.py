"""Which objects an owner controls: those that its selector matches and that nobody else controls.

``decide`` is pure; ``claim`` does what it says. A child that stops matching is let go, an orphan that matches is taken in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.api.selectors import Selector
from pybernetes.client.client import STRATEGIC_PATCH, Client
from pybernetes.client.errors import Invalid, NotFound, StatusError
from pybernetes.client.refs import Kindlike, as_ref


def owner_reference(owner: Object, kind: Kindlike) -> Object:
    """Return the owner reference that makes an object controlled by another."""
    ref = as_ref(kind)
    meta = owner["metadata"]
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(obj: Object) -> Object | None:
    """Return the reference to the owner that controls an object, or None."""
    for reference in obj["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            return reference
    return None


def is_controlled_by(obj: Object, owner: Object) -> bool:
    """Return whether an object is controlled by an owner."""
    reference = controller_of(obj)
    return reference is not None and reference["uid"] == owner["metadata"]["uid"]


def decide(owner: Object, selector: Selector, obj: Object) -> str:
    """Return what to do about an object: ``keep``, ``adopt``, ``release`` or ``ignore``."""
    reference = controller_of(obj)
    meta, owner_meta = obj["metadata"], owner["metadata"]
    matches = selector.matches(meta.get("labels"))
    going = "deletionTimestamp" in owner_meta
    if reference is not None:
        if reference["uid"] != owner_meta["uid"]:
            return "ignore"
        return "keep" if matches else "ignore" if going else "release"
    if going or not matches or "deletionTimestamp" in meta:
        return "ignore"
    if owner_meta.get("namespace", "") not in ("", meta.get("namespace", "")):
        return "ignore"
    return "adopt"


async def claim(
    client: Client,
    owner: Object,
    owner_kind: Kindlike,
    selector: Selector,
    kind: Kindlike,
    candidates: Iterable[Object],
    finalizers: tuple[str, ...] = (),
) -> list[Object]:
    """Return the objects that the owner controls, after adopting and releasing what is due.

    Before the first adoption the owner is read from the server: one that is about to go adopts nothing.
    """
    claimed: list[Object] = []
    adopt: list[Object] = []
    release: list[Object] = []
    lists = {"keep": claimed, "adopt": adopt, "release": release}
    for obj in candidates:
        decided = lists.get(decide(owner, selector, obj))
        if decided is not None:
            decided.append(obj)
    if adopt:
        await _may_adopt(client, owner, owner_kind)
        patch = _adoption(owner, owner_kind, finalizers)
        adopted = await asyncio.gather(*(_adopt(client, kind, obj, patch) for obj in adopt))
        claimed += [obj for obj in adopted if obj is not None]
    if release:
        await asyncio.gather(*(_release(client, kind, obj, owner, finalizers) for obj in release))
    return claimed


async def _may_adopt(client: Client, owner: Object, kind: Kindlike) -> None:
    meta = owner["metadata"]
    fresh = (await client.get(kind, meta["name"], meta.get("namespace", "")))["metadata"]
    if fresh["uid"] != meta["uid"]:
        raise StatusError(
            409, "Conflict", f"original {as_ref(kind).kind} {meta['name']} is gone: got uid {fresh['uid']}"
        )
    if "deletionTimestamp" in fresh:
        when = fresh["deletionTimestamp"]
        raise StatusError(
            409, "Conflict", f"{as_ref(kind).kind} {meta['name']} has just been deleted at {when}"
        )


def _adoption(owner: Object, kind: Kindlike, finalizers: tuple[str, ...]) -> Object:
    meta: Object = {"ownerReferences": [owner_reference(owner, kind)]}
    if finalizers:
        meta["finalizers"] = list(finalizers)
    return meta


async def _adopt(client: Client, kind: Kindlike, obj: Object, meta: Object) -> Object | None:
    own = obj["metadata"]
    patch = {"metadata": {**meta, "uid": own["uid"]}}
    try:
        return await client.patch(kind, own["name"], patch, own.get("namespace", ""), type=STRATEGIC_PATCH)
    except NotFound:
        return None


async def _release(
    client: Client, kind: Kindlike, obj: Object, owner: Object, finalizers: tuple[str, ...]
) -> None:
    own = obj["metadata"]
    gone: Object = {"$patch": "delete", "uid": owner["metadata"]["uid"]}
    meta: Object = {"uid": own["uid"], "ownerReferences": [gone]}
    if finalizers:
        meta["$deleteFromPrimitiveList/finalizers"] = list(finalizers)
    try:
        await client.patch(
            kind, own["name"], {"metadata": meta}, own.get("namespace", ""), type=STRATEGIC_PATCH
        )
    except (NotFound, Invalid):  # it is gone, or was let go already
        pass
