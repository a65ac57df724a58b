"""Puts the kubelet's server together: paths, who may ask, TLS."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from pybernetes.api import zpages
from pybernetes.api.verbs import VERB_OF_METHOD
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.server import Server
from pybernetes.lib.http.server_connection import Answer, Application
from pybernetes.lib.metrics.health_slis import HealthSlis
from pybernetes.lib.tls import ciphers
from pybernetes.lib.tls.serving_certificates import CABundle, KeyPair, ServingCertificates
from pybernetes.lib.tracing import CARRIED
from pybernetes.node.kubelet import config
from pybernetes.node.kubelet.certificates.serving_certificate import serving_files
from pybernetes.node.kubelet.kubelet import Kubelet
from pybernetes.node.kubelet.server.auth import KubeletAuth
from pybernetes.node.kubelet.server.pod_handlers import PodHandlers
from pybernetes.node.kubelet.server.request import HttpError, Request, page_not_found
from pybernetes.node.kubelet.server.stats_handlers import StatsHandlers
from pybernetes.node.kubelet.server.system_logs import SystemLogs
from pybernetes.runtime.component_server import Checks, text, zpage

log = logging.getLogger(__name__)
Fields = dict[str, Any]
_SYSTEM_LOGS = "/var/log"
Handler = Callable[[Request], Awaitable[Answer]]
_LIMITS = Limits(body=1 << 20, head=128 * 1024)
_LONG_RUNNING = frozenset(("exec", "attach", "portForward"))
_CONTAINER = "/{podNamespace}/{podID}/{containerName}"
_ROUTES = dict.fromkeys(("containerLogs", "exec", "attach", "run"), _CONTAINER) | {
    "portForward": "/{podNamespace}/{podID}",
    "logs": "/{logpath:*}",
}


def _application(handle: Handler) -> Application:
    """Return an application whose errors are answers."""

    async def answer(request: Request) -> Answer:
        try:
            return await handle(request)
        except HttpError as error:
            return text(error.message.encode(), error.status)

    return answer


class KubeletServer:
    """Serves on the kubelet's port, and health alone on another one for this machine."""

    def __init__(self, kubelet: Kubelet, flags: Mapping[str, str] = MappingProxyType({})) -> None:
        self._kubelet = kubelet
        self._zpages = zpages.Zpages("kubelet", flags, lambda: (f"/{name}" for name in self._handlers))
        settings = kubelet.options.configuration
        self._gate = KubeletAuth(kubelet.client, kubelet.clock, kubelet.options.node_name, settings)
        slis = HealthSlis()
        self._checks = Checks(slis)
        self._checks.add("syncloop", self._check_sync_loop)
        handlers, figures = PodHandlers(kubelet), StatsHandlers(kubelet, slis)
        self._handlers: dict[str, Handler] = {
            "healthz": self._healthz,
            "pods": self._pods,
            "runningpods": self._running_pods,
            "configz": self._configz,
            "statusz": self._zpage,
            "flagz": self._zpage,
            "metrics": figures.metrics,
            "stats": figures.stats,
        }
        if settings["enableDebuggingHandlers"] and settings["enableSystemLogHandler"]:
            self._handlers["logs"] = SystemLogs(Path(_SYSTEM_LOGS)).page
        if settings["enableDebuggingHandlers"]:
            self._handlers |= {
                "containerLogs": handlers.logs,
                "exec": handlers.exec,
                "attach": handlers.attach,
                "portForward": handlers.port_forward,
                "run": handlers.run,
            }
        self._server, self._health, self._open = (
            Server(_application(handle), limits=_LIMITS, request_class=Request)
            for handle in (self._handle, self._healthz_only, self._without_asking)
        )
        self._certificates: ServingCertificates | None = None

    async def start(self) -> None:
        """Listen."""
        kubelet, settings = self._kubelet, self._kubelet.options.configuration
        if settings["enableServer"]:
            pair = serving_files(kubelet.options, kubelet.addresses)
            authority = settings["authentication"]["x509"]["clientCAFile"]
            clients = CABundle(Path(authority)) if authority else None
            self._gate.clients = clients
            self._certificates = ServingCertificates(
                pair, bundles=(clients,) if clients else (),
                ciphers=ciphers.openssl_list(settings["tlsCipherSuites"]),
                minimum=ciphers.minimum_version(settings["tlsMinVersion"]),
            )  # fmt: skip
            context = self._certificates.context
            kubelet.port = await self._server.start(settings["address"], int(settings["port"]), context)
        if settings["readOnlyPort"]:
            await self._open.start(settings["address"], int(settings["readOnlyPort"]))
        if settings["healthzPort"]:
            await self._health.start(settings["healthzBindAddress"], int(settings["healthzPort"]))

    def reload(self, path: Any) -> None:
        """Serve with a new certificate from now on."""
        if self._certificates is not None:
            self._certificates.serve(KeyPair(path, path))

    async def stop(self) -> None:
        """Stop listening."""
        await self._server.stop()
        await self._health.stop()
        await self._open.stop()

    async def _handle(self, request: Request) -> Answer:
        with self._counted(request, "readwrite"):
            await self._gate.check(request)
            return await self._traced(request)

    async def _without_asking(self, request: Request) -> Answer:
        """Answer on the port that is open to everybody: nothing that runs or changes something."""
        with self._counted(request, "readonly"):
            first = request.path_parts[0]
            if first not in ("healthz", "pods", "stats", "metrics") or request.method not in ("GET", "HEAD"):
                raise page_not_found()
            return await self._traced(request)

    @contextmanager
    def _counted(self, request: Request, server: str) -> Iterator[None]:
        """Count a request and how long it took, or took to begin; names are ours, whatever the client sent."""
        first, metrics = request.path_parts[0], self._kubelet.context.metrics
        labels = (
            ("long_running", "true" if first in _LONG_RUNNING else "false"),
            ("method", request.method if request.method in VERB_OF_METHOD else "other"),
            ("path", first if first in self._handlers else "other"),
            ("server_type", server),
        )
        metrics.add("kubelet_http_requests_total", *labels)
        begun = self._kubelet.clock.monotonic()
        try:
            yield
        finally:
            took = self._kubelet.clock.monotonic() - begun
            metrics.observe("kubelet_http_requests_duration_seconds", took, *labels)

    async def _traced(self, request: Request) -> Answer:
        """Answer within a span, if spans are asked for; those whom nobody knows have none."""
        first = request.path_parts[0]
        handler = self._handlers.get(first)
        if handler is None:
            raise page_not_found()
        carrier = {name: value for name in CARRIED if (value := request.header(name.encode()))}
        attributes = {
            "http.request.method": request.method,
            "url.path": request.path,
            "http.route": route(first),
        }
        with self._kubelet.context.spans.served(route(first), carrier, attributes) as span:
            status = 500
            try:
                answer = await handler(request)
                status = getattr(answer, "status", 200)
                return answer
            except HttpError as error:
                status = error.status
                raise
            finally:
                if span is not None:
                    span.set_attribute("http.response.status_code", status)

    async def _healthz_only(self, request: Request) -> Answer:
        if request.path_parts[0] != "healthz":
            raise page_not_found()
        return await self._healthz(request)

    async def _healthz(self, request: Request) -> Response:
        return self._checks.page(request)

    def _check_sync_loop(self) -> str | None:
        return None if self._kubelet.ready.is_set() else "the kubelet is starting"

    async def _pods(self, request: Request) -> Response:
        """Answer with every pod of the node and its newest status."""
        items = []
        for worker in self._kubelet.workers.values():
            status = self._kubelet.statuses.get(worker.uid) or worker.pod.get("status", {})
            items.append({**{key: worker.pod[key] for key in ("metadata", "spec")}, "status": status})
        return Response(orjson.dumps(_pod_list(items)))

    async def _running_pods(self, request: Request) -> Response:
        """Answer with the pods that have something running."""
        items = []
        for worker in self._kubelet.workers.values():
            running = worker.runtime.running
            if running:
                meta = {key: worker.pod["metadata"][key] for key in ("name", "namespace", "uid")}
                containers = [{"name": run.name, "image": run.image, "resources": {}} for run in running]
                items.append({"metadata": meta, "spec": {"containers": containers}, "status": {}})
        return Response(orjson.dumps(_pod_list(items)))

    async def _zpage(self, request: Request) -> Response:
        if request.path not in zpages.PATHS:
            raise page_not_found()
        return zpage(self._zpages, request)

    async def _configz(self, request: Request) -> Response:
        shown = {"kind": config.KIND, "apiVersion": config.API_VERSION, **self._kubelet.options.configuration}
        # What a server of static pods is told may be a secret.
        shown["staticPodURLHeader"] = {key: ["<masked>"] for key in shown["staticPodURLHeader"]}
        return Response(orjson.dumps({"kubeletconfig": shown}))


def route(first: str) -> str:
    """Return the shape of a path that begins so, without names, as spans are called."""
    return f"/{first}{_ROUTES.get(first, '')}"


def _pod_list(items: list[Fields]) -> Fields:
    return {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}
