"""create ingress."""

from __future__ import annotations

import re

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator, int_or_text, metadata
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


SUMMARY = "Create an ingress with the specified name"
USAGE = "create ingress NAME --rule=host/path=service:port[,tls[=secret]] "
ALIASES = ("ing",)
FLAGS = (*COMMON, """
- annotation array | annotation as key=value; may be repeated
- class string | ingress class
- default-backend string | service for everything else, as name:port
- rule array | host/path=service:port[,tls[=secret]]; a path that ends with * is a prefix; may be repeated
""")  # fmt: skip
_RULE = re.compile(
    r"^(?P<host>[\w\*\-\.]*)(?P<path>/[^=]*)(?P<star>\*?)=(?P<service>[\w-]+):(?P<port>[\w-]+)(,(?P<tls>tls)?(=(?P<secret>[\w-]*))?)?$"
)


def _backend(service: str, port: str) -> Object:
    value = int_or_text(port)
    key = "number" if isinstance(value, int) else "name"
    return {"service": {"name": service, "port": {key: value} if value else {}}}


def make(context: Context, name: str) -> Object:
    """Return an Ingress."""
    flags = context.flags
    if not flags.default_backend and not flags.rule:
        raise CommandError(
            "not enough information provided: every ingress has to either specify a default-backend (which catches all "
            "traffic) or a list of rules (which catch specific paths)"
        )
    parsed = []
    for rule in flags.rule:
        match = _RULE.match(rule)
        if match is None:
            raise CommandError(
                f"rule {rule} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]"
            )
        parsed.append(match)
    for annotation in flags.annotation:
        if "=" not in annotation:
            raise CommandError(f"annotation {annotation} is invalid and should be in format key=[value]")
    if flags.default_backend and len(flags.default_backend.split(":")) != 2:
        raise CommandError("default-backend should be in format servicename:serviceport")
    annotations = dict(pair.split("=", 1) for pair in flags.annotation)
    spec: Object = {}
    if flags.__getattr__("class"):
        spec["ingressClassName"] = flags.__getattr__("class")
    if flags.default_backend:
        spec["defaultBackend"] = _backend(*flags.default_backend.split(":"))
    if tls := _tls(parsed):
        spec["tls"] = tls
    if parsed:
        spec["rules"] = _rules(parsed)
    return {
        "kind": "Ingress",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": metadata(context, name, annotations=dict(sorted(annotations.items()))),
        "spec": spec,
        "status": {"loadBalancer": {}},
    }


def _tls(parsed: list[Any]) -> list[Object]:
    entries: list[Object] = []
    for match in parsed:
        if not match["tls"]:
            continue
        secret, host = match["secret"] or "", match["host"]
        known = next((entry for entry in entries if entry.get("secretName", "") == secret), None)
        if known is None:
            known = {}
            entries.append(known)
            if host:
                known["hosts"] = [host]
            if secret:
                known["secretName"] = secret
        elif host and host not in known.setdefault("hosts", []):
            known["hosts"].append(host)
    return entries


def _rules(parsed: list[Any]) -> list[Object]:
    hosts: dict[str, list[Object]] = {}
    for match in parsed:
        path = match["path"]
        prefix = path.endswith("*") or bool(match["star"])
        entry = {
            "path": path.rstrip("*") if prefix else path,
            "pathType": "Prefix" if prefix else "Exact",
            "backend": _backend(match["service"], match["port"]),
        }
        hosts.setdefault(match["host"], []).append(entry)
    return [{**({"host": host} if host else {}), "http": {"paths": paths}} for host, paths in hosts.items()]


run = generator(make, "failed to create ingress: ")
