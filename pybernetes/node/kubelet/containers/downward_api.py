"""The downward API: fields of a pod and resources of its containers, as text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from pybernetes.api import quantity
from pybernetes.api.resource import Object

_REMEMBERED = 4096  # characters
_KEYED = re.compile(r"^metadata\.(labels|annotations)\['(.+)'\]$")


class FieldError(ValueError):
    """The pod has no such field, or a container no such resource."""


def field_value(pod: Object, path: str, addresses: tuple[str, ...] = (), host: tuple[str, ...] = ()) -> str:
    """Return a field as text; ``addresses`` are the pod's, ``host`` are the node's."""
    meta, spec = pod["metadata"], pod["spec"]
    keyed = _KEYED.match(path)
    if keyed:
        return (meta.get(keyed.group(1)) or {}).get(keyed.group(2), "")
    if path in ("metadata.labels", "metadata.annotations"):
        return key_values(meta.get(path.partition(".")[2]) or {})
    simple = {
        "metadata.name": lambda: meta["name"],
        "metadata.namespace": lambda: meta["namespace"],
        "metadata.uid": lambda: meta["uid"],
        "spec.nodeName": lambda: spec.get("nodeName", ""),
        "spec.serviceAccountName": lambda: spec.get("serviceAccountName", ""),
        "status.hostIP": lambda: host[0] if host else "",
        "status.hostIPs": lambda: ",".join(host),
        "status.podIP": lambda: addresses[0] if addresses else "",
        "status.podIPs": lambda: ",".join(addresses),
    }
    if path not in simple:
        raise FieldError(f"unsupported fieldPath: {path}")
    return simple[path]()


def key_values(values: Mapping[str, str]) -> str:
    """Return labels or annotations as lines of a file."""
    return "\n".join(f"{key}={_quoted(value)}" for key, value in sorted(values.items()))


class _Escapes(dict[int, str]):
    """What characters become in quotes, for ``str.translate``: annotations are long, and may be wanted in many files."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char in '"\\':
            char = "\\" + char
        elif not char.isprintable():
            char = (
                f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
            )
        if len(self) < _REMEMBERED:
            self[code] = char
        return char


_ESCAPES = _Escapes(
    {ord(char): f"\\{letter}" for char, letter in zip("\a\b\f\n\r\t\v", "abfnrtv", strict=True)}
)


def _quoted(value: str) -> str:
    return f'"{value.translate(_ESCAPES)}"'


def resource_value(
    pod: Object, reference: Object, container: Object | None, allocatable: Mapping[str, str]
) -> str:
    """Return a resource of a container in units of the divisor, rounded up; a missing limit is the pod's, or the node's."""
    if reference.get("containerName"):
        groups = ("containers", "initContainers")
        named = (candidate for group in groups for candidate in pod["spec"].get(group, ()))
        container = next(
            (candidate for candidate in named if candidate["name"] == reference["containerName"]), None
        )
    if container is None:
        raise FieldError(f"container {reference.get('containerName', '')} not found")
    kind, _, name = reference["resource"].partition(".")
    amounts = (container.get("resources") or {}).get(kind) or {}
    if name in amounts:
        value = amounts[name]
    elif kind == "limits" and name in ("cpu", "memory", "ephemeral-storage"):
        shared = (pod["spec"].get("resources") or {}).get("limits") or {}  # of all containers together
        value = shared.get(name) or allocatable.get(name, "0")
    else:
        value = "0"
    divisor = reference.get("divisor") or "0"
    unit = quantity.parse(divisor) or Fraction(1)
    amount = quantity.parse(value)
    if name == "cpu":  # counted in thousandths
        amount, unit = Fraction(quantity.milli(value)), Fraction(quantity.milli(str(divisor)) or 1000)
    return str(-(-amount // unit))
