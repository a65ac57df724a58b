"""Versions from the past, from somebody who may read. There are as many changes as the server was given pods."""

from __future__ import annotations

from bench.harness.attacked import Attack, Attacked
from bench.harness.shared_server import PODS

_OLD = 200


async def _ask(server: Attacked, query: str) -> None:
    await server.send(server.head(f"{PODS}?resourceVersion={_OLD}&{query}", known=True) + b"\r\n")


async def _watch(server: Attacked) -> None:
    await _ask(server, "watch=1&timeoutSeconds=1")


async def _selecting_watch(server: Attacked) -> None:
    await _ask(server, "watch=1&timeoutSeconds=1&labelSelector=app%3Dnone")


async def _list(server: Attacked) -> None:
    await _ask(server, "resourceVersionMatch=Exact&limit=1")


ATTACKS: dict[str, Attack] = {
    "watches from an old version": _watch,
    "selecting watches from an old version": _selecting_watch,
    "lists of an old version": _list,
}
