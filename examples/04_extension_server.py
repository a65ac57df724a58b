"""An API server of your own behind the cluster's: it serves greetings, and a line that answers.

    python examples/04_extension_server.py [--kubeconfig FILE] [--address HOST]

    kubectl create -f - <<< '{"apiVersion": "hello.example.com/v1", "kind": "Greeting", "metadata": {"name": "a"},
                              "spec": {"to": "world"}}'
    kubectl get greetings

The cluster's server passes requests for this group on and says who asks; this one asks back whether they may. HOST is
where the cluster's server finds this program. Objects are in memory here: with another store they would stay.
"""

import argparse
import asyncio
import base64
import json
import tempfile
import time
from pathlib import Path

from pybernetes.api.customresource.kind import Form
from pybernetes.api.customresource.types import root
from pybernetes.api.resource import Column, Resource
from pybernetes.api.table import AGE, NAME
from pybernetes.client import Client
from pybernetes.client.kubeconfig import load
from pybernetes.client.refs import API_SERVICES, CONFIG_MAPS, SERVICES, SUBJECT_ACCESS_REVIEWS
from pybernetes.control_plane.apiserver.assembly.server_context import new_context
from pybernetes.control_plane.apiserver.authn.authentication import Authentication
from pybernetes.control_plane.apiserver.authn.authenticators import front_proxy
from pybernetes.control_plane.apiserver.authz.authorization import Authorization
from pybernetes.control_plane.apiserver.authz.verdict import Rules, Verdict
from pybernetes.control_plane.apiserver.connection import Connection
from pybernetes.control_plane.apiserver.discovery.discovery import Discovery
from pybernetes.control_plane.apiserver.observability.health import Health
from pybernetes.control_plane.apiserver.openapi.openapi import OpenApi
from pybernetes.control_plane.apiserver.pipeline import failures
from pybernetes.control_plane.apiserver.pipeline.own_paths import OwnPaths
from pybernetes.control_plane.apiserver.pipeline.pipeline import pipeline
from pybernetes.control_plane.apiserver.pipeline.router import Router
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.apiserver.storage.resource_version import stamp
from pybernetes.control_plane.store.open import open_store
from pybernetes.lib.http.server import Server
from pybernetes.lib.http.upgrade import Upgrade
from pybernetes.lib.tls import tls
from pybernetes.lib.tls.serving_certificates import CABundle, KeyPair, ServingCertificates

GROUP, VERSION, SERVICE, NAMESPACE = "hello.example.com", "v1", "greetings", "default"
TEXT = {"type": "string", "description": "what is said"}
TO = {"type": "string", "description": "who is greeted"}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": {"to": TO}},
        "status": {"type": "object", "properties": {"text": TEXT}},
    },
}


def greet(obj):
    """Fill in what the server knows and the client does not say."""
    obj["status"] = {"text": f"Hello, {obj.get('spec', {}).get('to', '')}!"}


def check(obj, errors):
    if not obj.get("spec", {}).get("to"):
        errors.required("spec.to", "somebody has to be greeted")


GREETINGS = Resource(
    group=GROUP,
    version=VERSION,
    kind="Greeting",
    plural="greetings",
    short_names=("hi",),
    subresources=("line",),
    columns=(NAME, Column("Text", ".status.text"), AGE),
    prepare_create=greet,
    prepare_update=lambda new, old: greet(new),
    validate=check,
    decode=Form({"schema": {"openAPIV3Schema": SCHEMA}}).decode,
    own_type=root(SCHEMA),
)


class Line(asyncio.Protocol):
    """The far end of an upgraded connection: says every word back, louder."""

    def __init__(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write(data.upper())


def line(api, request, kind):
    """Serve the subresource ``line``: whatever protocol the client asks to upgrade to."""

    def start(transport, leftover):
        head = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %b\r\n\r\n"
        transport.write(head % request.headers[b"upgrade"])
        line = Line(transport)
        if leftover:
            line.data_received(leftover)
        return line

    return Upgrade(start)


class Delegated:
    """Asks the cluster's server whether somebody may."""

    name = "Delegated"

    def __init__(self, client: Client) -> None:
        self.client = client

    def start(self) -> None:
        pass

    async def authorize(self, user, info):
        spec = {"user": user.name, "uid": user.uid, "groups": list(user.groups)}
        spec["extra"] = {key: list(values) for key, values in user.extra.items()}
        if info.is_resource:
            names = ("verb", "group", "version", "resource", "subresource", "namespace", "name")
            spec["resourceAttributes"] = {name: getattr(info, name) for name in names}
        else:
            spec["nonResourceAttributes"] = {"verb": info.verb, "path": info.path}
        review = await self.client.create(SUBJECT_ACCESS_REVIEWS, {"metadata": {}, "spec": spec})
        return Verdict(allowed=review["status"]["allowed"], reason=review["status"].get("reason", ""))

    def rules(self, user, namespace):
        return Rules(incomplete=True)


async def server(client: Client, proxies: CABundle, names: dict[str, list[str]]) -> Server:
    """Return the parts of an API server, put together."""
    context = new_context(
        open_store("memory", stamp=stamp),
        Kinds([GREETINGS]),
        authorization=Authorization([Delegated(client)]),
    )
    await context.store.start()
    context.authentication = Authentication(
        [front_proxy.authenticator(proxies, time.time, **names)], anonymous=False
    )
    discovery, openapi = Discovery([GREETINGS]), OpenApi()
    openapi.add(GREETINGS, SCHEMA)
    router = Router(context, OwnPaths(context, discovery, openapi, Health(), {}))
    router.subresources["line"] = line
    handler = pipeline(context, router, auditor=None, dispatcher=None)
    return Server(handler, failures.refusal, request_class=Request, connection_class=Connection)


async def register(client: Client, address: str, port: int, authority: bytes) -> None:
    """Tell the cluster's server where this one is and whom it is signed by."""
    meta = {"name": SERVICE, "namespace": NAMESPACE}
    alias = {"type": "ExternalName", "externalName": address, "ports": [{"port": port}]}
    await client.apply(SERVICES, {"metadata": meta, "spec": alias}, manager="greetings")
    served = {
        "group": GROUP,
        "version": VERSION,
        "groupPriorityMinimum": 1000,
        "versionPriority": 10,
        "caBundle": base64.b64encode(authority).decode(),
        "service": {**meta, "port": port},
    }
    await client.apply(
        API_SERVICES, {"metadata": {"name": f"{VERSION}.{GROUP}"}, "spec": served}, manager="greetings"
    )


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", default="")
    parser.add_argument("--address", default="localhost")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        async with load(arguments.kubeconfig).client(user_agent="greetings") as client:
            # Every cluster says there by which certificate its server is known, and in which headers it names users.
            trust = await client.get(CONFIG_MAPS, "extension-apiserver-authentication", "kube-system")
            data = trust["data"]
            (directory / "proxies.crt").write_text(data["requestheader-client-ca-file"])
            keys = {name: f"requestheader-{name.replace('_', '-')}" for name in front_proxy.USUAL}
            names = {name: json.loads(data.get(key, "[]")) for name, key in keys.items()}
            certificate, key, authority = tls.ensure_serving(directory, [f"{SERVICE}.{NAMESPACE}.svc"])
            proxies = CABundle(directory / "proxies.crt")
            listener = await server(client, proxies, names)
            context = ServingCertificates(KeyPair(certificate, key), bundles=[proxies]).context
            port = await listener.start(arguments.address, 0, context)
            await register(client, arguments.address, port, authority.read_bytes())
            print(f"greetings are served on {arguments.address}:{port}", flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
