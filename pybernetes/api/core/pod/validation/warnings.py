"""What is legal in a pod or a template, and most likely not meant."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from pybernetes.api import quantity
from pybernetes.api.core.pod.validation.annotations import APP_ARMOR, SECCOMP, SECCOMP_POD, app_armor_profile
from pybernetes.api.core.pod.validation.volume_warnings import overlap_warnings, volume_warnings
from pybernetes.api.core.pod.validation.windows import each_container
from pybernetes.api.field import Path
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.api.validation import names
from pybernetes.api.validation.addresses import ip_warnings
from pybernetes.api.validation.node_labels import DEPRECATED, node_selector_term_warnings

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
# More than fit into the headers of an answer; each pair of ports or paths can give one.
_MOST = 100
# What says where a pod may run.
_PLACING = frozenset(("affinity", "nodeSelector", "topologySpreadConstraints"))
_NO_SELECTOR = "a null labelSelector results in matching no pod"


def pod_warnings(pod: Object, old: Object | None) -> list[str]:
    """Warn about a new pod; an update gets no warnings."""
    if old is not None:
        return []
    problems = names.dns_label(pod["metadata"].get("name", ""))
    messages = list(itertools.islice(_warnings(pod, Path(), is_template=False), _MOST))
    if problems:
        messages.insert(0, (
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; "
            f"a DNS label is recommended: [{' '.join(problems)}]"
        ))  # fmt: skip
    return messages


def pod_template_warnings(template: Object, path: Path) -> list[str]:
    """Warn about the template of a workload, whose path is given."""
    return list(itertools.islice(_warnings(template, path, is_template=True), _MOST))


def _warnings(holder: Object, path: Path, *, is_template: bool) -> Iterator[str]:
    spec, annotations = holder.get("spec", {}), holder.get("metadata", {}).get("annotations", {})
    here, notes = path / "spec", path / "metadata" / "annotations"
    # Every new pod comes this way, and most have little of this.
    if not _PLACING.isdisjoint(spec):
        yield from _placement(spec, here)
    if annotations:
        for key, text in _ANNOTATIONS.items():
            if key in annotations:
                yield f"{notes[key]}: {text}"
    if "volumes" in spec:
        yield from volume_warnings(spec["volumes"], here / "volumes")
        yield from overlap_warnings(spec["volumes"])
    if "hostAliases" in spec:
        yield from _repeated(spec["hostAliases"], "ip", here / "hostAliases")
    if "imagePullSecrets" in spec:
        yield from _repeated(spec["imagePullSecrets"], "name", here / "imagePullSecrets")
        for index, secret in enumerate(spec["imagePullSecrets"]):
            if not secret.get("name"):
                yield f'{(here / "imagePullSecrets")[index] / "name"}: invalid empty name ""'
    if "overhead" in spec:
        yield from _fractions(spec["overhead"], here, "overhead")
    if SECCOMP_POD in annotations and "seccompProfile" not in spec.get("securityContext", ()):
        yield f'{notes[SECCOMP_POD]}: non-functional in v1.27+; use the "seccompProfile" field instead'
    for container, place in each_container(spec, here):
        if annotations:
            yield from _profiles(container, spec, annotations, notes, is_template)
        resources = container.get("resources")
        if resources:
            for kind in ("limits", "requests"):
                if kind in resources:
                    yield from _fractions(resources[kind], place, "resources", kind)
        if len(container.get("env", ())) > 1:
            yield from _environment(container["env"], place / "env")
    yield from _ports(spec, here)
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        yield (
            f"{here / 'terminationGracePeriodSeconds'}: must be >= 0; negative values are invalid "
            "and will be treated as 1"
        )
    if "affinity" in spec:
        yield from _affinity(spec["affinity"], here / "affinity")
    for index, server in enumerate(spec.get("dnsConfig", {}).get("nameservers", ())):
        yield from ip_warnings(server, (here / "dnsConfig" / "nameservers")[index])
    for index, alias in enumerate(spec.get("hostAliases", ())):
        yield from ip_warnings(alias.get("ip", ""), (here / "hostAliases")[index] / "ip")


def _placement(spec: Object, path: Path) -> Iterator[str]:
    for key in spec.get("nodeSelector", ()):
        if key in DEPRECATED:
            yield f"{(path / 'nodeSelector')[key]}: {DEPRECATED[key]}"
    affinity = spec.get("affinity", {}).get("nodeAffinity", {})
    here = path / "affinity" / "nodeAffinity"
    for index, term in enumerate(affinity.get(_REQUIRED, {}).get("nodeSelectorTerms", ())):
        yield from node_selector_term_warnings(term, (here / _REQUIRED / "nodeSelectorTerms")[index])
    for index, weighted in enumerate(affinity.get(_PREFERRED, ())):
        place = (here / _PREFERRED)[index] / "preference"
        yield from node_selector_term_warnings(weighted.get("preference", {}), place, check_values=True)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints", ())):
        place = (path / "topologySpreadConstraints")[index]
        key = constraint.get("topologyKey", "")
        if key in DEPRECATED:
            yield f"{place / 'topologyKey'}: {key} is {DEPRECATED[key]}"
        if "labelSelector" not in constraint:
            yield f"{place / 'labelSelector'}: {_NO_SELECTOR}"


def _affinity(affinity: Object, path: Path) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind, {})
        for index, term in enumerate(terms.get(_REQUIRED, ())):
            if "labelSelector" not in term:
                yield f"{(path / kind / _REQUIRED)[index] / 'labelSelector'}: {_NO_SELECTOR}"
        for index, weighted in enumerate(terms.get(_PREFERRED, ())):
            if "labelSelector" not in weighted.get("podAffinityTerm", ()):
                here = (path / kind / _PREFERRED)[index] / "podAffinityTerm" / "labelSelector"
                yield f"{here}: {_NO_SELECTOR}"


def _repeated(items: list[Object], key: str, path: Path) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(items):
        value = item.get(key, "")
        if value in seen:
            yield f"{path[index] / key}: duplicate {key} {go_format.quote(value)}"
        seen.add(value)


def _fractions(amounts: dict[str, str], path: Path, *fields: str) -> Iterator[str]:
    """Warn about fractions of bytes in the amounts of a field below a path."""
    for name in ("memory", "ephemeral-storage"):
        if name in amounts and quantity.milli(amounts[name]) % 1000:
            place = path
            for field in fields:
                place = place / field
            yield f'{place[name]}: fractional byte value "{amounts[name]}" is invalid, must be an integer'


def _profiles(
    container: Object, spec: Object, annotations: dict[str, str], notes: Path, is_template: bool
) -> Iterator[str]:
    name, context = container.get("name", ""), container.get("securityContext", {})
    if SECCOMP + name in annotations and "seccompProfile" not in context:
        yield f'{notes[SECCOMP + name]}: non-functional in v1.27+; use the "seccompProfile" field instead'
    key = APP_ARMOR + name
    # In a pod the annotation has become the field by now.
    if is_template and key in annotations and "appArmorProfile" not in context:
        whole = spec.get("securityContext", {}).get("appArmorProfile")
        if whole is None or whole != app_armor_profile(annotations[key]):
            yield f'{notes[key]}: deprecated since v1.30; use the "appArmorProfile" field instead'


def _environment(variables: list[Object], path: Path) -> Iterator[str]:
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name, value = variable.get("name", ""), variable.get("value", "")
        reference = f"$({name})"
        if name in seen and ("valueFrom" in variable or value == reference or reference not in value):
            yield (
                f"{path[index]}: hides previous definition of {go_format.quote(name)}, "
                "which may be dropped when using apply"
            )
        seen.add(name)


def _ports(spec: Object, path: Path) -> Iterator[str]:
    known: dict[tuple[int, str], _Known] = {}
    by_name: dict[str, Path] = {}
    repeated: list[str] = []
    for container, place in each_container(spec, path):
        for index, port in enumerate(container.get("ports", ())):
            here = (place / "ports")[index]
            address, host = port.get("hostIP", ""), port.get("hostPort", 0)
            if address and not host:
                yield f"{here}: hostIP set without hostPort: {_port_text(port)}"
            others = known.setdefault((port.get("containerPort", 0), port.get("protocol", "")), _Known())
            for _, other, other_address, other_host in others.clashing(address, host):
                if address == other_address and host == other_host:
                    yield f"{here}: duplicate port definition with {other}"
                elif not host or not other_host:
                    yield f"{here}: overlapping port definition with {other}"
                else:
                    yield f"{here}: dangerously ambiguous port definition with {other}"
            others.add(here, address, host)
            name = port.get("name")
            if name and name in by_name:
                first = by_name[name]
                repeated.append(
                    f"{here}: duplicate port name {go_format.quote(name)} with {first}, services and probes "
                    f"that select ports by name will use {first}"
                )
            elif name:
                by_name[name] = here
    yield from repeated


_Port = tuple[int, Path, str, int]


class _Known:
    """The ports of a pod with one number, found by what makes another one clash with them."""

    def __init__(self) -> None:
        self._count = itertools.count()
        self._ports: dict[Any, list[_Port]] = {}

    def add(self, path: Path, address: str, host: int) -> None:
        port = (next(self._count), path, address, host)
        for key in ((), host, (host, address)):
            self._ports.setdefault(key, []).append(port)

    def clashing(self, address: str, host: int) -> Iterable[_Port]:
        """Return the ports that another one clashes with, in their order."""
        if not host:
            return self._ports.get((), ())
        if not address:
            return heapq.merge(self._ports.get(0, ()), self._ports.get(host, ()))
        keys = (0, (host, ""), (host, address))
        return heapq.merge(*(self._ports.get(key, ()) for key in keys))


def _port_text(port: Object) -> str:
    """Return a port as Go prints the struct."""
    return (
        f"{{Name:{port.get('name', '')} HostPort:{port.get('hostPort', 0)} "
        f"ContainerPort:{port.get('containerPort', 0)} Protocol:{port.get('protocol', '')} "
        f"HostIP:{port.get('hostIP', '')}}}"
    )
