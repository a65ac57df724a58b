"""What log, exec, attach and port-forward share: the kubelet of the pod's node serves them."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.codec import websocket_stream
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.discovery import subresource_kinds
from pybernetes.control_plane.apiserver.proxy import forwarding, kubelets
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import boolean
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.http.stream import Stream

_LAST_PORT = 65535


async def require_create(context: ServerContext, request: Request) -> None:
    """Refuse users who may only get: a WebSocket opens with GET, and what goes through it is more than reading."""
    if request.request_info.verb == "create":
        return
    verdict = await context.authorize(request.user, request.request_info._replace(verb="create"))
    if not verdict.allowed:
        raise errors.forbidden("", request.request_info.resource, request.request_info.name, verdict.reason)


async def scheduled_pod(context: ServerContext, request: Request, kind: Kind) -> Object:
    """Return the pod of the path, which must have a node."""
    await context.fresh()
    name = request.request_info.name
    record = context.store.get(kind.key(request.request_info.namespace, name))
    if record is None:
        raise errors.not_found("", "pods", name)
    pod = kind.object(record)
    if not pod["spec"].get("nodeName"):
        raise errors.bad_request(f"pod {name} does not have a host assigned")
    return pod


def container_of(request: Request, pod: Object, *, named_only: bool = False) -> str:
    """Return the container that a request is about: named, or the only one there is."""
    spec, name = pod["spec"], pod["metadata"]["name"]
    wanted = request.parameter("container")
    groups = ("initContainers", "containers", "ephemeralContainers")
    known = [container["name"] for group in groups for container in spec.get(group, ())]
    if wanted:
        if wanted not in known:
            raise errors.bad_request(f"container {wanted} is not valid for pod {name}")
        return wanted
    mains = [container["name"] for container in spec.get("containers", ())]
    if len(mains) == 1:
        return mains[0]
    if not mains:
        raise errors.bad_request(f"a container name must be specified for pod {name}")
    text = f"a container name must be specified for pod {name}, choose one of: [{' '.join(mains)}]"
    inits = [container["name"] for container in spec.get("initContainers", ())]
    if inits:
        text += f" or one of the init containers: [{' '.join(inits)}]"
    raise errors.bad_request(text)


def options_of(request: Request, kind: Kind) -> Object:
    """Return what a connection was asked for, as the object that admission sees."""
    what = subresource_kinds.describe(kind.resource, request.request_info.subresource)
    options: Object = {"kind": what.kind, "apiVersion": kind.resource.api_version}
    for name in ("stdin", "stdout", "stderr", "tty"):
        if boolean(request, name):
            options[name] = True
    for name in ("container", "path"):
        if value := request.parameter(name):
            options[name] = value
    if commands := request.query.get("command"):
        options["command"] = list(commands)
    if request.request_info.subresource == "portforward" and (texts := request.query.get("ports")):
        options["ports"] = _ports(texts)
    if request.request_info.rest:
        options["path"] = f"/{request.request_info.rest}"
    return options


def _ports(texts: Iterable[str]) -> list[int]:
    """Return the ports that parameters name, each one of them or several with commas between."""
    ports = []
    for text in ",".join(texts).split(","):
        digits = text.isascii() and text.isdigit()
        if not digits or len(text.lstrip("0")) > 5 or int(text) > _LAST_PORT:
            problem = "value out of range" if digits else "invalid syntax"
            quoted = go_format.quote(text)
            raise errors.bad_request(
                f"cannot convert to []int32: strconv.ParseUint: parsing {quoted}: {problem}"
            )
        ports.append(int(text))
    return ports


async def connect(
    context: ServerContext, request: Request, kind: Kind, pod: Object, path: str, query: dict[str, list[str]]
) -> Answer:
    """Pass the request on to the pod's kubelet, if admission allows it."""
    if request.request_info.subresource != "log":
        attributes = context.admission.attributes(
            "CONNECT", kind.resource, request, options_of(request, kind), None, False
        )
        await context.admission.admit(attributes)
    target = kubelets.kubelet(
        context, pod["spec"]["nodeName"], forwarding.with_query(path, urlencode(query, doseq=True))
    )
    if request.request_info.subresource != "log":
        return await forwarding.forward_request(request, target)
    target.upgrades = False
    answer = await forwarding.forward_request(request, target, whole_refusals=True)
    if isinstance(answer, Response) and answer.status > 206:
        raise _refusal(answer, request.request_info.name)
    if isinstance(answer, Stream) and websocket_stream.wanted(request):
        return websocket_stream.raw(answer, request)
    return answer


def _refusal(answer: Response, pod: str) -> errors.StatusError:
    """Return the error for what the kubelet refused in plain text."""
    text = answer.body.decode(errors="replace").strip()
    if answer.status == 400:
        return errors.bad_request(text)
    if answer.status == 404:
        message = f"the server could not find the requested resource ( pods {pod})"
        return errors.StatusError(404, "NotFound", message, {"name": pod, "kind": "pods"})
    return errors.internal(text)


def chosen(request: Request, names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the query parameters that the kubelet is to see."""
    return {name: list(request.query[name]) for name in names if name in request.query}
