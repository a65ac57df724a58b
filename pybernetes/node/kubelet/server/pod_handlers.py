"""Logs, commands and ports of pods."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from pybernetes.lib import rfc3339
from pybernetes.lib.http.messages import TEXT, Response
from pybernetes.lib.http.pulled_stream import PulledStream
from pybernetes.lib.http.upgrade import Upgrade
from pybernetes.node.kubelet.containers import logs
from pybernetes.node.kubelet.containers.logs import LogOptions
from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState
from pybernetes.node.kubelet.kubelet import Kubelet
from pybernetes.node.kubelet.pod.pod_worker import PodWorker
from pybernetes.node.kubelet.server import plain_logs
from pybernetes.node.kubelet.server.request import HttpError, Request, page_not_found
from pybernetes.node.kubelet.server.stream_proxy import join

Fields = dict[str, Any]


class PodHandlers:
    """What is asked about one pod: paths are ``/verb/namespace/pod[/uid][/container]``."""

    def __init__(self, kubelet: Kubelet) -> None:
        self._kubelet = kubelet

    def _worker(self, namespace: str, name: str, uid: str = "") -> PodWorker:
        worker = self._kubelet.find(namespace, name, uid)
        if worker is None:
            raise HttpError(
                404, f'pod "{name}" not found' if not uid else f'pod "{name}" (uid {uid}) not found'
            )
        return worker

    def _run(self, worker: PodWorker, container: str) -> ContainerRun:
        run = worker.runtime.run(container)
        if run is None or run.state is not ContainerState.RUNNING:
            meta = worker.pod["metadata"]
            raise HttpError(
                404, f'container not found ("{container}") in pod {meta["namespace"]}/{meta["name"]}'
            )
        return run

    # -- logs --------------------------------------------------------------------------------------------

    async def logs(self, request: Request) -> PulledStream:
        """Answer with the log of a container."""
        parts = request.path_parts
        if len(parts) != 4:
            raise page_not_found()
        _, namespace, name, container = parts
        plain = self._kubelet.options.plain_log(namespace, name)
        if plain is not None and self._kubelet.find(namespace, name, "") is None:
            if not plain.exists():
                raise HttpError(404, f"{plain} is not there: the program has written no log yet")
            return PulledStream(plain_logs.read(plain, request))
        worker = self._worker(namespace, name)
        known = [
            specified["name"]
            for group in ("initContainers", "containers", "ephemeralContainers")
            for specified in worker.pod["spec"].get(group, ())
        ]
        if container not in known:
            raise HttpError(404, f'container "{container}" not found in pod "{name}"')
        options = _log_options(request)
        run = (
            worker.runtime.previous(container) if request.flag("previous") else worker.runtime.run(container)
        )
        if run is None:
            what = "previous terminated container" if request.flag("previous") else "container"
            waiting = _why_waiting(self._kubelet.statuses.get(worker.uid) or {}, container)
            tail = waiting or "not found"
            raise HttpError(400, f'{what} "{container}" in pod "{name}" {tail}')
        if run.state is ContainerState.CREATED:
            raise HttpError(
                400, f'container "{container}" in pod "{name}" is waiting to start: ContainerCreating'
            )
        path = Path(run.log_path)
        try:
            logs.open_log(path).close()
        except OSError as error:
            why = "no such file or directory" if isinstance(error, FileNotFoundError) else error.strerror
            raise HttpError(
                500, f"failed to try resolving symlinks in path {run.log_path!r}: {why}"
            ) from None
        return PulledStream(self._pieces(worker, run, path, options))

    async def _pieces(
        self, worker: PodWorker, run: ContainerRun, path: Path, options: LogOptions
    ) -> AsyncIterator[bytes]:
        if not options.follow:
            async for piece in logs.read(path, options):
                yield piece
            return
        ended = worker.run_ended.setdefault(run.id, asyncio.Event())
        if run.state is not ContainerState.RUNNING:
            ended.set()
        async for piece in logs.read(path, options, ended):
            yield piece

    # -- streams -----------------------------------------------------------------------------------------

    def _target(self, request: Request) -> tuple[PodWorker, str]:
        parts = request.path_parts[1:]
        if len(parts) == 4:
            return self._worker(parts[0], parts[1], parts[2]), parts[3]
        if len(parts) == 3:
            return self._worker(parts[0], parts[1]), parts[2]
        raise page_not_found()

    async def exec(self, request: Request) -> Upgrade:
        """Run a command in a container."""
        worker, container = self._target(request)
        run = self._run(worker, container)
        streams = _streams(request)
        command = request.query.get("command", [])
        if not command:
            raise HttpError(400, "you must specify at least one command for the container")
        url = await self._ask(self._kubelet.cri.exec(run.id, command, **streams))
        return await join(request, url, streams=streams)

    async def attach(self, request: Request) -> Upgrade:
        """Connect to a container's own process."""
        worker, container = self._target(request)
        run = self._run(worker, container)
        streams = _streams(request)
        streams["tty"] = bool(_definition(worker.pod, container).get("tty"))
        if streams["tty"]:
            streams["stderr"] = False
        url = await self._ask(self._kubelet.cri.attach(run.id, **streams))
        return await join(request, url, streams=streams)

    async def port_forward(self, request: Request) -> Upgrade:
        """Connect to ports of a pod."""
        parts = request.path_parts[1:]
        if len(parts) not in (2, 3):
            raise page_not_found()
        worker = self._worker(parts[0], parts[1], parts[2] if len(parts) == 3 else "")
        sandbox = worker.runtime.sandbox
        if sandbox is None:
            raise HttpError(404, f"failed to find sandbox for pod {parts[1]!r}")
        texts = [
            text
            for name in ("port", "ports")
            for value in request.query.get(name, ())
            for text in value.split(",")
        ]
        try:
            ports = [int(text) for text in texts if text]
        except ValueError:
            raise HttpError(400, f"unable to parse {texts} as ports") from None
        url = await self._ask(self._kubelet.cri.port_forward(sandbox.id, ports))
        return await join(request, url, streams={})

    async def run(self, request: Request) -> Response:
        """Run a command in a container and answer with its output."""
        worker, container = self._target(request)
        run = self._run(worker, container)
        command = request.parameter("cmd").split(" ")
        code, output, errors = await self._ask(self._kubelet.cri.exec_sync(run.id, command))
        if code:
            raise HttpError(
                500, f"command terminated with exit code {code}: {(output + errors).decode(errors='replace')}"
            )
        return Response(output + errors, content_type=TEXT)

    async def _ask(self, call: Any) -> Any:
        try:
            return await call
        except CriError as error:
            raise HttpError(500, error.message) from None


def _streams(request: Request) -> dict[str, bool]:
    streams = {"stdin": request.flag("input"), "stdout": request.flag("output"),
               "stderr": request.flag("error"), "tty": request.flag("tty")}  # fmt: skip
    if streams["tty"]:
        streams["stderr"] = False
    if not (streams["stdin"] or streams["stdout"] or streams["stderr"]):
        raise HttpError(400, "you must specify at least 1 of stdin, stdout, stderr")
    return streams


def _definition(pod: Fields, name: str) -> Fields:
    for group in ("containers", "initContainers", "ephemeralContainers"):
        for container in pod["spec"].get(group, ()):
            if container["name"] == name:
                return container
    return {}


def _why_waiting(status: Fields, container: str) -> str:
    for key in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for container_status in status.get(key, ()):
            waiting = container_status.get("state", {}).get("waiting")
            if container_status["name"] == container and waiting is not None:
                reason = waiting.get("reason", "")
                if reason in ("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull"):
                    return f"is waiting to start: {'trying and failing to pull image' if 'Never' not in reason else reason}"
                return f"is waiting to start: {reason or 'no reason provided'}"
    return ""


def _log_options(request: Request) -> LogOptions:
    def number(name: str) -> int | None:
        text = request.parameter(name)
        if not text:
            return None
        try:
            return int(text)
        except ValueError:
            raise HttpError(400, f'unable to parse "{name}" as a number: {text!r}') from None

    since = ""
    seconds = number("sinceSeconds")
    if seconds is not None:
        import time

        since = rfc3339.micro(time.time() - seconds)
    elif request.parameter("sinceTime"):
        try:
            since = rfc3339.micro(rfc3339.parse(request.parameter("sinceTime")))
        except ValueError:
            raise HttpError(400, f"unable to parse sinceTime {request.parameter('sinceTime')!r}") from None
    return LogOptions(
        follow=request.flag("follow"), timestamps=request.flag("timestamps"), since=since,
        tail=number("tailLines"), limit=number("limitBytes"), stream=request.parameter("stream") or "All",
    )  # fmt: skip
