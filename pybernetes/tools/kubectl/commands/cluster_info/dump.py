"""cluster-info dump: writes everything that helps to find out what is wrong."""

from __future__ import annotations

import os

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.connection.client import path_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.built_in import built_in

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


SUMMARY = "Dump relevant information for debugging and diagnosis"
USAGE = "cluster-info dump [flags]"
FLAGS = (shared_flags.TEMPLATE, shared_flags.ALL_NAMESPACES, """
- namespaces list | namespaces to dump
o output string json | json or yaml
- output-directory string | directory to write to; nothing or - is standard output
- pod-running-timeout duration 20s | how long to wait for a pod
""")  # fmt: skip
_KINDS = (
    ("Event", "events"), ("ReplicationController", "replication-controllers"), ("Service", "services"),
    ("DaemonSet", "daemonsets"), ("Deployment", "deployments"), ("ReplicaSet", "replicasets"), ("Pod", "pods"),
)  # fmt: skip
_EXTENSIONS = {"json": "json", "yaml": "yaml"}


def run(context: Context) -> None:
    """Dump nodes, the objects of the namespaces, and the logs of their pods."""
    flags = context.flags
    show = printers.make(context)
    client = context.client
    nodes = client.list(built_in("Node"), chunk=0)
    if flags.output == "name":
        raise CommandError("list types are not supported by name printing: *v1.NodeList")
    _write(context, "nodes", nodes, show)
    if flags.all_namespaces:
        listed = client.list(built_in("Namespace"), chunk=0).get("items") or []
        namespaces = [namespace["metadata"]["name"] for namespace in listed]
    else:
        namespaces = flags.namespaces or ["kube-system", context.namespace]
    for namespace in namespaces:
        pods: list[Object] = []
        for kind, file in _KINDS:
            value = client.list(built_in(kind), namespace, chunk=0)
            _write(context, f"{namespace}/{file}", value, show)
            pods = value.get("items") or [] if kind == "Pod" else pods
        for pod in pods:
            _logs(context, namespace, pod)
    if flags.output_directory not in ("", "-"):
        context.out(f"Cluster info dumped to {flags.output_directory}")


def _target(context: Context, name: str) -> Any:
    directory = context.flags.output_directory
    if directory in ("", "-"):
        return None
    if ".." in name.split("/"):  # what the server calls its objects leads nowhere else
        raise CommandError(f"not a name that a file can have: {name}")
    path = os.path.join(directory, name.lstrip("/"))
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise CommandError(f"mkdir {os.path.dirname(path)}: not a directory") from None
    return path


def _private(path: str, flags: int) -> int:
    """Open a file that nobody else may read: logs can have secrets in them."""
    return os.open(path, flags, 0o600)


def _write(context: Context, name: str, value: Object, show: printers.Print) -> None:
    value = {**value, "items": value.get("items") or None}  # as the original writes a list of nothing
    path = _target(context, f"{name}.{_EXTENSIONS.get(context.flags.output, 'txt')}")
    if path is None:
        show(value)
        return
    with open(path, "w", encoding="utf-8", opener=_private) as file:
        console, context.stdout = context.stdout, file
        try:
            show(value)
        finally:
            context.stdout = console


def _logs(context: Context, namespace: str, pod: Object) -> None:
    name = pod["metadata"]["name"]
    pieces = []
    for container in (pod.get("spec") or {}).get("containers") or ():
        head = f"==== START logs for container {container['name']} of pod {namespace}/{name} ====\n"
        path = path_of(built_in("Pod"), namespace, name, "log")
        try:
            text = (
                context.client.send("GET", path, query={"container": container["name"]})
                .read()
                .decode("utf-8", "replace")
            )
        except CommandError as error:
            text = f"Request log error: {error.message}\n"
        pieces.append(
            f"{head}{text}==== END logs for container {container['name']} of pod {namespace}/{name} ====\n"
        )
    path = _target(context, f"{namespace}/{name}/logs.txt")
    if path is None:
        context.stdout.write("".join(pieces))
        return
    with open(path, "w", encoding="utf-8", opener=_private) as file:
        file.write("".join(pieces))
