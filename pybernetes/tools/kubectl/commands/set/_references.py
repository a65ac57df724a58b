"""What variables refer to: as it is told, and the values that are there."""

from __future__ import annotations

import re

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted
from pybernetes.tools.kubectl.resources.built_in import built_in

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

_ENTRY = re.compile(r"metadata\.(labels|annotations)\['(.*)'\]")
_RESOURCES = re.compile(r"(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.*)")


def told(source: Object) -> str:
    """Return what a reference is called."""
    if ref := source.get("configMapKeyRef"):
        return f"configmap {ref.get('name', '')}, key {ref.get('key', '')}"
    if ref := source.get("secretKeyRef"):
        return f"secret {ref.get('name', '')}, key {ref.get('key', '')}"
    if ref := source.get("fieldRef"):
        return f"field path {ref.get('fieldPath', '')}"
    if ref := source.get("resourceFieldRef"):
        holder = f"{ref['containerName']}/" if ref.get("containerName") else ""
        return f"resource field {holder}{ref.get('resource', '')}"
    return "invalid valueFrom"


def value(
    context: Context, source: Object, owner: Object, container: Object, containers: list[Object]
) -> str:
    """Return the value of a reference, as far as it can be known without a running pod; CommandError if it cannot."""
    if ref := source.get("configMapKeyRef"):
        return _entry(context, "ConfigMap", "config map", ref)
    if ref := source.get("secretKeyRef"):
        import base64

        return base64.b64decode(_entry(context, "Secret", "secret", ref)).decode("utf-8", "replace")
    if ref := source.get("fieldRef"):
        return _field(owner.get("metadata") or {}, ref.get("fieldPath") or "")
    if ref := source.get("resourceFieldRef"):
        if name := ref.get("containerName"):
            container = next((other for other in containers if other.get("name") == name), {})
            if not container:
                raise CommandError(f"container {name} not found")
        return _amount(container, ref)
    raise CommandError("invalid valueFrom")


def _entry(context: Context, kind: str, what: str, ref: Object) -> str:
    name, key = ref.get("name", ""), ref.get("key", "")
    holder = context.client.get(built_in(kind), context.namespace, name)
    value = (holder.get("data") or {}).get(key)
    if value is None:
        raise CommandError(f"key {key} not found in {what} {name}")
    return str(value)


def _field(metadata: Object, path: str) -> str:
    if match := _ENTRY.fullmatch(path):
        return str((metadata.get(match[1]) or {}).get(match[2], ""))
    if path in ("metadata.labels", "metadata.annotations"):
        entries = metadata.get(path.removeprefix("metadata.")) or {}
        return "\n".join(f"{key}={quoted(text)}" for key, text in sorted(entries.items()))
    if path in ("metadata.name", "metadata.namespace", "metadata.uid"):
        return metadata.get(path.removeprefix("metadata.")) or ""
    raise CommandError(f"unsupported fieldPath: {path}")


def _amount(container: Object, ref: Object) -> str:
    """Return an amount in whole divisors, rounded up; nothing that is set is nothing at all."""
    import math

    from pybernetes.api import quantity

    match = _RESOURCES.fullmatch(ref.get("resource") or "")
    if match is None:
        raise CommandError(f"unsupported container resource : {ref.get('resource', '')}")
    amount = quantity.parse(str(((container.get("resources") or {}).get(match[1]) or {}).get(match[2], "0")))
    divisor = quantity.parse(str(ref.get("divisor") or "1")) or 1
    return str(math.ceil(amount / divisor))
