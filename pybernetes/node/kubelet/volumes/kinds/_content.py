"""Files from config maps, secrets and the downward API, for their own volumes and for projected ones."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from pybernetes.api.resource import Object
from pybernetes.client import Ref
from pybernetes.client.refs import CONFIG_MAPS, SECRETS
from pybernetes.node.kubelet.containers import downward_api
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.volume_kind import VolumeFile, VolumeRequest


async def config_map(request: VolumeRequest, source: Object, name: str, mode: int) -> dict[str, VolumeFile]:
    """Return the files of a config map."""
    obj = await _fetch(request, CONFIG_MAPS, source, name, "configmap")
    if obj is None:
        return {}
    wanted = _wanted(source, obj)
    data = {key: value.encode() for key, value in (obj.get("data") or {}).items() if key in wanted}
    data |= {
        key: base64.b64decode(value) for key, value in (obj.get("binaryData") or {}).items() if key in wanted
    }
    return choose(data, source, mode, "configmap")


async def secret(request: VolumeRequest, source: Object, name: str, mode: int) -> dict[str, VolumeFile]:
    """Return the files of a secret."""
    obj = await _fetch(request, SECRETS, source, name, "secret")
    if obj is None:
        return {}
    wanted = _wanted(source, obj)
    data = {key: base64.b64decode(value) for key, value in (obj.get("data") or {}).items() if key in wanted}
    return choose(data, source, mode, "secret")


async def _fetch(request: VolumeRequest, ref: Ref, source: Object, name: str, kind: str) -> Object | None:
    """Return the object that a source names; None if it is not there and need not be."""
    obj = await request.inputs.api().get(ref, request.namespace, name)
    if obj is None and not source.get("optional"):
        raise VolumeError(f'{kind} "{name}" not found')
    return obj


def _wanted(source: Object, obj: Object) -> set[str]:
    """Return the keys that a source names, or all: of a large object a small part may be wanted many times."""
    if source.get("items"):
        return {item["key"] for item in source["items"]}
    return {*(obj.get("data") or ()), *(obj.get("binaryData") or ())}


def choose(data: Mapping[str, bytes], source: Object, mode: int, what: str) -> dict[str, VolumeFile]:
    """Return the requested keys under their paths, or all of them."""
    if not source.get("items"):
        return {key: VolumeFile(value, mode) for key, value in data.items()}
    files: dict[str, VolumeFile] = {}
    for item in source["items"]:
        if item["key"] not in data:
            if source.get("optional"):
                continue
            raise VolumeError(f"references non-existent {what} key: {item['key']}")
        own = item.get("mode")
        files[item["path"]] = VolumeFile(data[item["key"]], mode if own is None else own)
    return files


def downward(request: VolumeRequest, source: Object, mode: int) -> dict[str, VolumeFile]:
    """Return the files of the downward API."""
    files: dict[str, VolumeFile] = {}
    pod, inputs = request.pod, request.inputs
    fields: dict[str, bytes] = {}  # many files may have the same, such as all annotations
    for item in source.get("items", ()):
        path = item["fieldRef"]["fieldPath"] if "fieldRef" in item else ""
        data = fields.get(path)
        try:
            if path and data is None:
                addresses = inputs.addresses(pod["metadata"]["uid"])
                data = fields[path] = downward_api.field_value(pod, path, addresses, inputs.host()).encode()
            elif data is None:
                allocatable = inputs.node().get("status", {}).get("allocatable", {})
                data = downward_api.resource_value(pod, item["resourceFieldRef"], None, allocatable).encode()
        except downward_api.FieldError as error:
            raise VolumeError(str(error)) from None
        own = item.get("mode")
        files[item["path"]] = VolumeFile(data, mode if own is None else own)
    return files
