"""A Service from flags."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import metadata
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


TCP = "- tcp list | port, or port:targetPort\n"


def service(
    context: Context, name: str, kind: str, *, node_port: int = 0, cluster_ip: str = "", external: str = ""
) -> Object:
    """Return a Service of a type."""
    flags = context.flags
    if not flags.tcp and kind != "ExternalName" and cluster_ip != "None":
        raise CommandError("at least one tcp port specifier must be provided")
    ports: list[Object] = []
    for text in flags.tcp:
        port, target = _ports(text)
        entry: Object = {
            "name": text.replace(":", "-"),
            "protocol": "TCP",
            "port": port,
            "targetPort": target,
        }
        if node_port:
            entry["nodePort"] = node_port
        ports.append(entry)
    labels = {"app": name}
    spec: Object = {}
    if ports:
        spec["ports"] = ports
    spec["selector"] = labels
    if cluster_ip:
        spec["clusterIP"] = cluster_ip
    spec["type"] = kind
    if external:
        spec["externalName"] = external
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": metadata(context, name, labels=labels),
        "spec": spec,
        "status": {"loadBalancer": {}},
    }


def _ports(text: str) -> tuple[int, int | str]:
    first, *others = text.split(":")
    if not first.isdigit():
        raise CommandError(f'strconv.ParseUint: parsing "{first}": invalid syntax')
    port = int(first)
    if port > 65535:
        raise CommandError(f'strconv.ParseUint: parsing "{first}": value out of range')
    target: int | str = port
    if others:
        second = others[0]
        target = int(second) if second.isdigit() else second
        if isinstance(target, int) and not 1 <= target <= 65535:
            raise CommandError("must be between 1 and 65535, inclusive")
        if not second:
            raise CommandError("must contain at least one letter (a-z),must not be empty")
    return port, target
