"""Configuration files: documents of several kinds in one text, read strictly."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.api.strict_types import Problem, Struct
from pybernetes.api.text import yaml_reader
from pybernetes.tools.kubeadm.configuration.kinds import (
    API_VERSION,
    EXPERIMENTAL,
    EXPERIMENTAL_KINDS,
    GROUP,
    KINDS,
)
from pybernetes.tools.kubeadm.errors import KubeadmError

log = logging.getLogger(__name__)
# With which kubeadm they can still be migrated.
OLD = {"v1alpha1": "v1.11", "v1alpha2": "v1.12", "v1alpha3": "v1.14", "v1beta1": "v1.15", "v1beta2": "v1.22",
       "v1beta3": "v1.36"}  # fmt: skip
COMPONENTS = {
    "kubelet.config.k8s.io/v1beta1": "KubeletConfiguration",
    "kubeproxy.config.k8s.io/v1alpha1": "KubeProxyConfiguration",
}
_MOST_BYTES = 3 << 20


@dataclass
class Documents:
    """What a file says, by kind; ``components`` are configurations of programs, passed on as they are."""

    own: dict[str, Object] = field(default_factory=dict)
    components: dict[str, Object] = field(default_factory=dict)


def read_file(path: str) -> bytes:
    """Return the bytes of a configuration file; KubeadmError if it cannot be read."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise KubeadmError(f"open {path}: {(error.strerror or str(error)).lower()}") from None
    if len(content) > _MOST_BYTES:
        raise KubeadmError(f"the configuration {path} is larger than {_MOST_BYTES} bytes")
    return content


def read_own(path: str) -> bytes:
    """Return the bytes of a command's own configuration; KubeadmError that says what cannot be read."""
    try:
        return read_file(path)
    except KubeadmError as error:
        raise KubeadmError(f'unable to read config from "{path}" : {error}') from None


def split(raw: bytes) -> Iterator[tuple[str, str, Object, list[str]]]:
    """Yield apiVersion, kind and value of every document, and the keys that come twice in it."""
    text = raw.decode(errors="replace")
    seen: set[tuple[str, str]] = set()
    for part in _parts(text):
        try:
            value, duplicates = yaml_reader.loads(part.encode())
        except yaml_reader.YamlError as error:
            raise KubeadmError(f"error converting YAML to JSON: {error}") from None
        if value is None:
            continue
        if not isinstance(value, dict):
            raise KubeadmError("invalid configuration: a document is not an object")
        version, kind = str(value.get("apiVersion") or ""), str(value.get("kind") or "")
        group, _, name = version.rpartition("/")
        if not group or not name or not kind:
            raise KubeadmError(
                f"invalid configuration for GroupVersionKind {group}/{name}, Kind={kind}: kind and apiVersion is mandatory "
                "information that must be specified"
            )
        if (version, kind) in seen:
            raise KubeadmError(f'invalid configuration: kind "{kind}" is specified twice in YAML file')
        seen.add((version, kind))
        yield version, kind, value, list(duplicates)


def _parts(text: str) -> list[str]:
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.rstrip() == "---" or line.startswith("--- "):
            parts.append([])
        else:
            parts[-1].append(line)
    return ["\n".join(lines) for lines in parts if any(line.strip() for line in lines)]


def read(raw: bytes, *, strict: bool = False, experimental: bool = False) -> Documents:
    """Return the documents of a text. Unknown fields are an error if ``strict``, else a warning."""
    result = Documents()
    for version, kind, value, duplicates in split(raw):
        check_version(version, kind, experimental=experimental)
        kinds = {API_VERSION: KINDS, EXPERIMENTAL: EXPERIMENTAL_KINDS}.get(version, {})
        if kind in kinds:
            result.own[kind] = _decoded(version, kind, value, duplicates, kinds[kind], strict)
        elif COMPONENTS.get(version) == kind:
            _check_component(version, kind, value, strict)
            result.components[kind] = value
        else:
            group, _, name = version.rpartition("/")
            what = f"{group}/{name}, Kind={kind}"
            if strict:
                raise KubeadmError(
                    f'unknown configuration APIs: []schema.GroupVersionKind{{schema.GroupVersionKind{{Group:"{group}", '
                    f'Version:"{name}", Kind:"{kind}"}}}}'
                )
            log.warning("[config] WARNING: Ignored configuration document with GroupVersionKind %s", what)
    return result


def check_version(version: str, kind: str, *, experimental: bool = False) -> None:
    """Refuse versions of before; KubeadmError says which kubeadm knows them."""
    group, _, name = version.rpartition("/")
    if group == GROUP and name in OLD:
        raise KubeadmError(
            f'your configuration file uses an old API spec: "{version}" (kind: "{kind}"). Please use kubeadm {OLD[name]} '
            "instead and run 'kubeadm config migrate --old-config old-config-file --new-config new-config-file', which will "
            "write the new, similar spec using a newer API version."
        )
    if version == EXPERIMENTAL and not experimental:
        raise KubeadmError(
            f'experimental API spec: "{version}" (kind: "{kind}") is not allowed. You can use the --allow-experimental-api '
            "flag if the command supports it."
        )


def _decoded(
    version: str, kind: str, value: Object, duplicates: list[str], struct: Struct, strict: bool
) -> Object:
    unknown: list[str] = []
    try:
        result = struct.read(value, "", unknown, kind)
    except Problem as problem:
        raise KubeadmError(_unreadable(version, kind) + str(problem) if strict else str(problem)) from None
    _complain(version, kind, [*duplicates, *(f'unknown field "{path}"' for path in unknown)], strict)
    return result


def _check_component(version: str, kind: str, value: Object, strict: bool) -> None:
    if kind == "KubeletConfiguration":
        from pybernetes.node.kubelet.config_types import CONFIGURATION

        unknown: list[str] = []
        fields = {name: item for name, item in value.items() if name not in ("apiVersion", "kind")}
        try:
            CONFIGURATION.read(fields, "", unknown, kind)
        except Problem as problem:
            raise KubeadmError(str(problem)) from None
        _complain(version, kind, [f'unknown field "{path}"' for path in unknown], strict)


def _unreadable(version: str, kind: str) -> str:
    group, _, name = version.rpartition("/")
    return f'error unmarshaling configuration schema.GroupVersionKind{{Group:"{group}", Version:"{name}", Kind:"{kind}"}}: '


def _complain(version: str, kind: str, complaints: list[str], strict: bool) -> None:
    if not complaints:
        return
    text = f"{_unreadable(version, kind)}strict decoding error: {', '.join(complaints)}"
    if strict:
        raise KubeadmError(text)
    log.warning("%s", text)
