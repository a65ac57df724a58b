"""``pyb etcd endpoint``: how the members are, one by one."""

from __future__ import annotations

import argparse
import asyncio

from pybernetes.control_plane.store.drivers.etcd import cluster
from pybernetes.control_plane.store.drivers.etcd.client import EtcdClient
from pybernetes.control_plane.store.protocol import StoreError
from pybernetes.tools.etcd import _connection, _printing

HELP = "health and status of each endpoint"
_HEALTH = ("ENDPOINT", "HEALTH", "TOOK", "ERROR")
_STATUS = (
    "ENDPOINT", "ID", "VERSION", "DB SIZE", "IS LEADER", "IS LEARNER", "RAFT TERM", "RAFT INDEX", "RAFT APPLIED INDEX",
    "ERRORS",
)  # fmt: skip


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(required=True, metavar="health|status")
    for name, run, text in (
        ("health", health, "whether each endpoint can commit"),
        ("status", status, "what each endpoint says of itself"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument(
            "--cluster", action="store_true", help="all members, not only the named endpoints"
        )
        _printing.add_flag(action)
        _connection.add_flags(action)
        action.set_defaults(run=run)


async def endpoints(client: EtcdClient, arguments: argparse.Namespace) -> EtcdClient:
    """Return a client for the endpoints that are meant."""
    if not arguments.cluster:
        return client
    _, members = await cluster.members(client)
    return client.of([url for member in members for url in member.client_urls])


def health(arguments: argparse.Namespace) -> str:
    """Ask every endpoint to commit; one that cannot is an error."""

    async def ask(client: EtcdClient) -> list[cluster.Health]:
        asked = await endpoints(client, arguments)
        try:
            return list(await asyncio.gather(*(cluster.health(endpoint) for endpoint in asked.endpoints)))
        finally:
            await asked.close()

    answers = _connection.run(arguments, ask)
    rows, lines, objects = [], [], []
    for answer in answers:
        took = f"{answer.seconds * 1000:.6f}ms"
        rows.append([answer.endpoint, str(not answer.error).lower(), took, answer.error])
        objects.append(
            {"endpoint": answer.endpoint, "health": not answer.error, "took": took}
            | ({"error": answer.error} if answer.error else {})
        )
        good = f"{answer.endpoint} is healthy: successfully committed proposal: took = {took}"
        lines.append(
            f"{answer.endpoint} is unhealthy: failed to commit proposal: {answer.error}"
            if answer.error
            else good
        )
    text = "\n".join(lines)
    if arguments.write_out != "simple":
        text = _printing.printed(arguments.write_out, _HEALTH, rows, objects)
    if any(answer.error for answer in answers):
        raise StoreError(f"unhealthy cluster\n{text}")
    return text


def status(arguments: argparse.Namespace) -> str:
    """Return what the endpoints say; the ones that do not answer are an error at the end."""

    async def ask(client: EtcdClient) -> list[cluster.MemberStatus | BaseException]:
        asked = await endpoints(client, arguments)
        try:
            calls = (cluster.status(endpoint) for endpoint in asked.endpoints)
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            await asked.close()

    answers = _connection.run(arguments, ask)
    rows, objects, failures = [], [], []
    for answer in answers:
        if isinstance(answer, BaseException):
            failures.append(str(answer))
            continue
        rows.append(_row(answer))
        objects.append(_object(answer))
    text = _printing.printed(arguments.write_out, _STATUS, rows, objects)
    if failures:
        raise StoreError(
            "\n".join(["Failed to get the status of endpoints", *failures, *filter(None, [text])])
        )
    return text


def _row(answer: cluster.MemberStatus) -> list[str]:
    return [
        answer.endpoint, f"{answer.member:x}", answer.version, _printing.size(answer.size),
        str(answer.is_leader).lower(), str(answer.is_learner).lower(), str(answer.raft_term), str(answer.raft_index),
        str(answer.applied_index), ", ".join(answer.errors),
    ]  # fmt: skip


def _object(answer: cluster.MemberStatus) -> dict[str, object]:
    header = {
        "cluster_id": answer.cluster,
        "member_id": answer.member,
        "revision": answer.revision,
        "raft_term": answer.raft_term,
    }
    said = {
        "header": header,
        "version": answer.version,
        "dbSize": answer.size,
        "leader": answer.leader,
        "raftIndex": answer.raft_index,
        "raftTerm": answer.raft_term,
        "raftAppliedIndex": answer.applied_index,
        "dbSizeInUse": answer.size_in_use,
        **({"errors": answer.errors} if answer.errors else {}),
        **({"isLearner": True} if answer.is_learner else {}),
    }
    return {"Endpoint": answer.endpoint, "Status": said}
