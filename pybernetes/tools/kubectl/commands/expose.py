"""expose: makes a service for the pods of an object."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply import overrides
from pybernetes.tools.kubectl.apply.last_applied import annotate
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.create._generator import int_or_text, ordered
from pybernetes.tools.kubectl.commands.set._empty_fields import with_empty_fields
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.built_in import SCHEME
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.label_selector import parse_labels

if TYPE_CHECKING:
    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.command_line.flags import Values


SUMMARY = (
    "Take a replication controller, service, deployment or pod and expose it as a new Kubernetes service"
)
USAGE = "expose (-f FILENAME | TYPE NAME) [--port=port] [--protocol=TCP|UDP|SCTP] [--target-port=number-or-name] [--name=name] [--external-ip=external-ip-of-service] [--type=type]"
COMPLETION = "types pod service replicationcontroller deployment replicaset"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.SAVE_CONFIG, shared_flags.RECORD,
    shared_flags.field_manager("kubectl-expose"), overrides.FLAGS.format(default="merge"),
    """
- cluster-ip string | address of the service, or None
- external-ip string | further address under which nodes take packets for the service
l labels string | labels of the service
- load-balancer-ip string | address of the load balancer
- name string | name of the service
- port string | port of the service
- protocol string | protocol: TCP, UDP or SCTP
- selector string | labels of the pods
- session-affinity string | None or ClientIP
- target-port string | port of the pods, number or name
- type string | ClusterIP, NodePort, LoadBalancer or ExternalName
""",
)  # fmt: skip
_EXPOSABLE = {
    ("", "ReplicationController"), ("", "Service"), ("", "Pod"), ("apps", "Deployment"), ("apps", "ReplicaSet"),
}  # fmt: skip


def run(context: Context) -> None:
    """Make a service for each object."""
    dry_run = context.dry_run()
    builder = Builder.from_flags(context, continue_on_error=True, labels=None, scheme=SCHEME)
    builder.for_each(lambda info: _one(context, info, dry_run))


def _one(context: Context, info: Info, dry_run: str) -> None:
    flags = context.flags
    resource = info.resource
    if (resource.group, resource.kind) not in _EXPOSABLE:
        raise CommandError(f"cannot expose a {_kind(info)}")
    service = overrides.apply(_service(context, info), flags.overrides, flags.override_type)
    service = context.record(service)
    if dry_run == "client":
        service = with_empty_fields(service)
        if context.namespace_given:
            meta = service["metadata"]
            service["metadata"] = {"name": meta.pop("name"), "namespace": context.namespace, **meta}
    else:
        if flags.save_config:
            service = annotate(service, typed=True)
        services = context.discovery.of_kind("v1", "Service")
        service = ordered(
            context.client.create(services, context.namespace, service, query=context.write_query())
        )
    printers.make(context, "exposed", typed=True)(service)


def _kind(info: Info) -> str:
    return f"{info.resource.kind}.{info.resource.group}" if info.resource.group else info.resource.kind


def _selector(info: Info) -> dict[str, str]:
    """Return the labels of the pods that belong to an object."""
    spec = info.object.get("spec") or {}
    wrong = "couldn't retrieve selectors via --selector flag or introspection: "
    if info.resource.kind in ("ReplicationController", "Service"):
        labels = spec.get("selector") or {}
        if not labels and info.resource.kind == "Service":
            raise CommandError(wrong + "the service has no pod selector set")
        return labels
    if info.resource.kind == "Pod":
        labels = (info.object.get("metadata") or {}).get("labels") or {}
        if not labels:
            raise CommandError(wrong + "the pod has no labels and cannot be exposed")
        return labels
    selector = spec.get("selector") or {}
    if selector.get("matchExpressions"):
        raise CommandError(
            f'{wrong}couldn\'t convert expressions - "{selector["matchExpressions"]}" to map-based selector format'
        )
    labels = selector.get("matchLabels") or {}
    if not labels:
        raise CommandError(
            f"{wrong}invalid {info.resource.kind.lower()}: no selectors, therefore cannot be exposed"
        )
    return labels


def _ports(info: Info) -> list[tuple[str, str]]:
    spec = info.object.get("spec") or {}
    if info.resource.kind == "Service":
        return [(str(port["port"]), port.get("protocol", "TCP")) for port in spec.get("ports") or ()]
    pod = spec if info.resource.kind == "Pod" else (spec.get("template") or {}).get("spec") or {}
    return [
        (str(port["containerPort"]), port.get("protocol", "TCP"))
        for container in pod.get("containers") or ()
        for port in container.get("ports") or ()
    ]


def _service(context: Context, info: Info) -> Object:
    flags = context.flags
    selector = parse_labels(flags.selector) if flags.selector else dict(sorted(_selector(info).items()))
    if not selector:
        raise CommandError("selector must be specified")
    known = _ports(info)
    wanted = flags.port.split(",") if flags.port else list(dict.fromkeys(port for port, _ in known))
    if not wanted and flags.cluster_ip != "None":
        raise CommandError("couldn't find port via --port flag or introspection")
    labels = (
        parse_labels(flags.labels)
        if flags.labels
        else dict(sorted(((info.object.get("metadata") or {}).get("labels") or {}).items()))
    )
    name = flags.name or info.name[:63]
    spec: Object = {}
    if ports := _service_ports(flags, wanted, known):
        spec["ports"] = ports
    spec["selector"] = selector
    if flags.cluster_ip:
        spec["clusterIP"] = flags.cluster_ip
    if flags.type:
        spec["type"] = flags.type
    if flags.external_ip:
        spec["externalIPs"] = [flags.external_ip]
    if flags.session_affinity:
        if flags.session_affinity not in ("None", "ClientIP"):
            raise CommandError(f"unknown session affinity: {flags.session_affinity}")
        spec["sessionAffinity"] = flags.session_affinity
    if flags.type == "LoadBalancer" and flags.load_balancer_ip:
        spec["loadBalancerIP"] = flags.load_balancer_ip
    meta: Object = {"name": name}
    if labels:
        meta["labels"] = labels
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": meta,
        "spec": spec,
        "status": {"loadBalancer": {}},
    }


def _service_ports(flags: Values, wanted: list[str], known: list[tuple[str, str]]) -> list[Object]:
    service_ports: list[Object] = []
    for place, text in enumerate(wanted, 1):
        if not text.lstrip("-").isdigit():
            raise CommandError(f'strconv.Atoi: parsing "{text}": invalid syntax')
        protocols = (
            [flags.protocol]
            if flags.protocol
            else list(dict.fromkeys(p for port, p in known if port == text)) or ["TCP"]
        )
        for protocol in protocols:
            entry: Object = {}
            if len(protocols) > 1:
                entry["name"] = f"port-{place}-{protocol.lower()}"
            elif len(wanted) > 1:
                entry["name"] = f"port-{place}"
            target = int_or_text(flags.target_port) if flags.target_port else int(text)
            service_ports.append({**entry, "protocol": protocol, "port": int(text), "targetPort": target})
    return service_ports
