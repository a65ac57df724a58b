"""Reads what is known of a cluster: from its API, and from the folder of a local one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    NAMESPACES,
    NETWORK_POLICIES,
    NODES,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    VALIDATING_WEBHOOK_CONFIGURATIONS,
    Kindlike,
)
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs, File, Process

_KINDS: tuple[Kindlike, ...] = (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    NAMESPACES,
    NETWORK_POLICIES,
    NODES,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    VALIDATING_WEBHOOK_CONFIGURATIONS,
)
_COMPONENTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd", "kube-proxy")
_FLAGS = (
    "application/json;g=config.k8s.io;v=v1beta1;as=Flagz,application/json;g=config.k8s.io;v=v1alpha1;as=Flagz"
)
_NODES_AT_ONCE = 20


async def collect(
    client: Client,
    files: Mapping[str, list[Path]] | None = None,
    owners: Iterable[int] = (),
    process: int = 0,
) -> ClusterInputs:
    """Read everything; what the caller may not read raises, because a verdict without it would mean nothing."""
    lists = await asyncio.gather(*(client.list(kind) for kind in _KINDS))
    objects = {kind.plural: page.items for kind, page in zip(_KINDS, lists, strict=True)}
    components = shown_flags(objects["pods"])
    apiserver = components.get("kube-apiserver") or await _own_flags(client)
    return ClusterInputs(
        apiserver=apiserver,
        components=components,
        kubelets=await _kubelets(client, [node["metadata"]["name"] for node in objects["nodes"]]),
        objects=objects,
        files=None if files is None else {what: _files(paths) for what, paths in files.items()},
        owners=frozenset((0, *owners)),
        process=_process(process) if process else None,
    )


def _process(number: int) -> Process | None:
    """Return what a process may do; None if it is gone."""
    try:
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
    except OSError:
        return None
    status = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    return Process(int(status["Uid"][1]), int(status["CapEff"][0], 16), status["NoNewPrivs"] == ["1"])


def shown_flags(pods: Iterable[Object]) -> dict[str, dict[str, str]]:
    """Return the flags of components that run as pods, read from their commands."""
    flags: dict[str, dict[str, str]] = {}
    for pod in pods:
        labels = pod["metadata"].get("labels", {})
        name = labels.get("component") or labels.get("k8s-app") or ""
        container = pod["spec"]["containers"][0]
        words = [*container.get("command", ()), *container.get("args", ())]
        pairs = [word.removeprefix("--").partition("=") for word in words if word.startswith("--")]
        if pod["metadata"]["namespace"] == "kube-system" and name in _COMPONENTS and pairs:
            flags[name] = {flag: value if equals else "true" for flag, equals, value in pairs}
    return flags


async def _own_flags(client: Client) -> dict[str, str] | None:
    try:
        answer = await client.call("GET", "/flagz", accept=_FLAGS)
    except StatusError:
        return None
    flags = answer.get("flags") if isinstance(answer, dict) else None
    return {name: str(value) for name, value in flags.items()} if isinstance(flags, dict) else None


async def _kubelets(client: Client, nodes: list[str]) -> dict[str, Object]:
    turn = asyncio.Semaphore(_NODES_AT_ONCE)

    async def ask(node: str) -> Object:
        async with turn:
            try:
                answer = await client.call("GET", f"/api/v1/nodes/{node}/proxy/configz")
            except StatusError:
                return {}  # a hollow node, or one that does not answer now
        config = answer.get("kubeletconfig") if isinstance(answer, dict) else None
        return config if isinstance(config, dict) else {}

    answers = await asyncio.gather(*(ask(node) for node in nodes))
    return {node: config for node, config in zip(nodes, answers, strict=True) if config}


def _files(paths: list[Path]) -> list[File]:
    states = ((path, path.lstat()) for path in paths if path.exists())
    return [File(str(path), state.st_mode & 0o7777, state.st_uid) for path, state in states]
