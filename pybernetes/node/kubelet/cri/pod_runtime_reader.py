"""Reads what the runtime has of a pod, as ``PodRuntime``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from pathlib import Path

from cri_api.v1 import api_pb2 as messages

from pybernetes.lib.files.regular import open_regular_path
from pybernetes.node.kubelet.containers.logs import last_text
from pybernetes.node.kubelet.cri import label_keys
from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.cri.pod_addresses import pod_addresses
from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState, PodRuntime, PodSandbox

_MESSAGE_LIMIT = 4096
_STATES = {
    messages.CONTAINER_CREATED: ContainerState.CREATED,
    messages.CONTAINER_RUNNING: ContainerState.RUNNING,
    messages.CONTAINER_EXITED: ContainerState.EXITED,
}


async def read_pod_runtime(cri: CriClient, uid: str, known: PodRuntime | None = None) -> PodRuntime:
    """Read everything that the runtime has of a pod. What had ended before (``known``) is not read again."""
    labels = {label_keys.POD_UID: uid}
    sandboxes, containers = await asyncio.gather(cri.list_pod_sandboxes(labels), cri.list_containers(labels))
    settled = {run.id: run for run in known.runs if run.state is ContainerState.EXITED} if known else {}
    had = {sandbox.id: sandbox for sandbox in known.sandboxes} if known else {}
    read_sandboxes = [await _sandbox(cri, listed, had.get(listed.id)) for listed in sandboxes]
    runs = [settled.get(listed.id) or await _run(cri, listed) for listed in containers]
    return _of(uid, [sandbox for sandbox in read_sandboxes if sandbox], [run for run in runs if run])


def _of(uid: str, sandboxes: list[PodSandbox], runs: list[ContainerRun]) -> PodRuntime:
    return PodRuntime(
        uid,
        tuple(sorted(sandboxes, key=lambda sandbox: (sandbox.created, sandbox.attempt), reverse=True)),
        tuple(sorted(runs, key=lambda run: (run.created, run.attempt), reverse=True)),
    )


async def with_sandbox(cri: CriClient, known: PodRuntime, made: str) -> PodRuntime:
    """Return ``known`` with a sandbox that was just created, without reading the rest again."""
    sandbox = _sandbox_of(made, await cri.pod_sandbox_status(made))
    return _of(known.uid, [sandbox, *known.sandboxes], list(known.runs))


async def with_runs(cri: CriClient, known: PodRuntime, made: Sequence[str]) -> PodRuntime:
    """Return ``known`` with runs that were just started, without reading the rest again."""
    assert known.sandbox is not None
    statuses = await asyncio.gather(*(cri.container_status(container) for container in made))
    runs = [run_of(status, known.sandbox.id) for status in statuses]
    return _of(known.uid, list(known.sandboxes), [*runs, *known.runs])


async def _sandbox(cri: CriClient, listed: Message, known: PodSandbox | None) -> PodSandbox | None:
    ready = listed.state == messages.SANDBOX_READY
    if known is not None and known.addresses:
        return replace(known, ready=ready)
    status = await _or_none(cri.pod_sandbox_status(listed.id))
    return _sandbox_of(listed.id, status) if status is not None else None


def _sandbox_of(id_: str, status: Message) -> PodSandbox:
    addresses = pod_addresses((status.network.ip, *(address.ip for address in status.network.additional_ips)))
    return PodSandbox(
        id_,
        status.state == messages.SANDBOX_READY,
        status.created_at / 1e9,
        status.metadata.attempt,
        addresses,
        status.linux.namespaces.options.network == messages.NODE,
    )


async def _run(cri: CriClient, listed: Message) -> ContainerRun | None:
    status = await _or_none(cri.container_status(listed.id))
    return run_of(status, listed.pod_sandbox_id) if status is not None else None


async def _or_none(call: Awaitable[Message]) -> Message | None:
    """Wait for a status; return None if what it is about is gone already."""
    try:
        return await call
    except CriError as error:
        if error.code == "NOT_FOUND":
            return None
        raise


def run_of(status: Message, sandbox: str) -> ContainerRun:
    """Return one run of a container, from its status."""
    annotations = status.annotations
    state = _STATES.get(status.state, ContainerState.UNKNOWN)
    reason, message = status.reason, status.message
    if state is ContainerState.EXITED:
        written = _termination_message(status)
        message = ": ".join(part for part in (message, written) if part)
    count = annotations.get(label_keys.RESTART_COUNT, "")
    return ContainerRun(
        id=status.id,
        name=status.labels.get(label_keys.CONTAINER_NAME) or status.metadata.name,
        state=state,
        sandbox=sandbox,
        attempt=int(count) if count.isdigit() else status.metadata.attempt,
        image=status.image.user_specified_image or status.image.image,
        image_ref=status.image_ref,
        created=status.created_at / 1e9,
        started=status.started_at / 1e9,
        finished=status.finished_at / 1e9 if state is ContainerState.EXITED else 0.0,
        exit_code=status.exit_code,
        reason=reason,
        message=message,
        fingerprint=annotations.get(label_keys.HASH, ""),
        log_path=status.log_path,
        pre_stop=annotations.get(label_keys.PRE_STOP, ""),
    )


def _termination_message(status: Message) -> str:
    """Return the termination message: from its file, or from the end of the log if the policy says so."""
    path = status.annotations.get(label_keys.MESSAGE_PATH, "")
    from_log = (
        status.annotations.get(label_keys.MESSAGE_POLICY) == "FallbackToLogsOnError" and status.exit_code != 0
    )
    for mount in status.mounts:
        if path and mount.container_path == path:
            try:
                # A volume may be mounted there, and what is in it is the container's: no link, no pipe, no device.
                with open_regular_path(mount.host_path, mount.host_path.count("/")) as file:
                    file.seek(max(0, file.seek(0, 2) - _MESSAGE_LIMIT))
                    data = file.read(_MESSAGE_LIMIT)
            except FileNotFoundError:
                break
            except OSError as error:
                return f"Error on reading termination log {mount.host_path}: {error}"
            if data:
                return data.decode(errors="replace")
            break
    return last_text(Path(status.log_path)) if from_log and status.log_path else ""
