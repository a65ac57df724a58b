"""Credential plugins: what the program of a kubeconfig's user is told, and what its answer says. Running it is the caller's part.

kubectl uses this module too: it imports nothing that costs time.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own costs time to import
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from pybernetes.api.resource import Object

_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_CLUSTER_FIELDS = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data")


class ExecCredentialError(ValueError):
    """The settings of a plugin or its answer cannot be used."""


def check(settings: Mapping[str, Any]) -> None:
    """Refuse settings that name no program or an unknown version of the protocol."""
    version = settings.get("apiVersion") or ""
    if version not in _VERSIONS:
        raise ExecCredentialError(f'exec plugin: invalid apiVersion "{version}"')
    if not settings.get("command"):
        raise ExecCredentialError("exec plugin: command is not specified")


def is_interactive(settings: Mapping[str, Any], terminal: bool, taken: bool = False) -> bool:
    """Return whether the program may ask the user; refuse if it must and there is no terminal, or others read from it."""
    mode = settings.get("interactiveMode") or "IfAvailable"
    if taken:
        if mode == "Always":
            raise ExecCredentialError(
                "exec plugin cannot support interactive mode: standard input is unavailable: used by stdin resource "
                "manifest reader"
            )
        return False
    if mode == "Always" and not terminal:
        raise ExecCredentialError(
            "exec plugin cannot support interactive mode: standard input is not a terminal"
        )
    return terminal and mode != "Never"


def request(
    settings: Mapping[str, Any], cluster: Mapping[str, Any], authority: bytes, interactive: bool
) -> Object:
    """Return the ExecCredential that the program finds in its environment; ``authority`` is that of the server."""
    spec: Object = {"interactive": interactive}
    if settings.get("provideClusterInfo"):
        spec["cluster"] = {name: cluster[name] for name in _CLUSTER_FIELDS if cluster.get(name)}
        if authority:
            import base64

            spec["cluster"]["certificate-authority-data"] = base64.b64encode(authority).decode()
    return {"kind": "ExecCredential", "apiVersion": settings["apiVersion"], "spec": spec}


def environment(settings: Mapping[str, Any], existing: Mapping[str, str], info: str) -> dict[str, str]:
    """Return the environment of the program; ``info`` is the request as JSON."""
    given = {variable["name"]: variable.get("value") or "" for variable in settings.get("env") or ()}
    return {**existing, **given, "KUBERNETES_EXEC_INFO": info}


def program(command: str, path: str | None = None) -> str:
    """Return the program of a command, empty if there is none; one in the folder where we happen to be is never taken."""
    if "/" in command:
        return command
    import shutil

    place = shutil.which(command, path=path) or ""
    return place if place.startswith("/") else ""


def read(raw: bytes) -> Object:
    """Return what the program printed, JSON or YAML, as an ExecCredential; ExecCredentialError if it is none."""
    import json

    try:
        answer = json.loads(raw)
    except ValueError:
        answer = _read_slowly(raw)
    start = "decoding stdout: couldn't get version/kind; json parse error: json: cannot unmarshal"
    if not isinstance(answer, dict | None):
        raise ExecCredentialError(f"{start} {_json_name(answer)} into Go value of type {_HEAD}")
    answer = answer or {}
    for name in ("apiVersion", "kind"):
        if not isinstance(answer.get(name), str | None):
            given = _json_name(answer[name])
            raise ExecCredentialError(f"{start} {given} into Go struct field .{name} of type string")
    version, kind = answer.get("apiVersion"), answer.get("kind") or "ExecCredential"
    if kind != "ExecCredential" or (version and version not in _VERSIONS):
        where = 'in scheme "pkg/client/auth/exec/exec.go:64"'
        raise ExecCredentialError(
            f'decoding stdout: no kind "{kind}" is registered for version "{version or ""}" {where}'
        )
    return answer


_HEAD = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)
_TEXTS = ("token", "clientCertificateData", "clientKeyData", "expirationTimestamp")


def _read_slowly(raw: bytes) -> Any:
    """Return the value of what is no plain JSON: YAML, or nothing at all, with the complaint that is due."""
    from pybernetes.api.text import json_reader, yaml_reader

    try:
        if raw.lstrip()[:1] == b"{":
            return json_reader.loads(raw)
        return yaml_reader.loads(raw)[0]
    except json_reader.JsonError as error:
        raise ExecCredentialError(
            f"decoding stdout: couldn't get version/kind; json parse error: {error.plain}"
        ) from None
    except ValueError as error:
        raise ExecCredentialError(f"decoding stdout: {error}") from None


def _json_name(value: Any) -> str:
    from pybernetes.api.schema.decode import json_name

    return json_name(value)


def status_of(answer: Object, settings: Mapping[str, Any]) -> Object:
    """Return the status of an answer; ExecCredentialError if there is no credential in it."""
    wanted, version = settings["apiVersion"], answer.get("apiVersion")
    _check_types(answer, (version or "").rpartition("/")[2])
    if version != wanted:
        returned = version or "client.authentication.k8s.io/__internal"
        raise ExecCredentialError(
            f"exec plugin is configured to use API version {wanted}, plugin returned version {returned}"
        )
    status: Object | None = answer.get("status")
    if status is None:
        raise ExecCredentialError("exec plugin didn't return a status field")
    token, certificate, key = (
        status.get(name) for name in ("token", "clientCertificateData", "clientKeyData")
    )
    if not token and not certificate and not key:
        raise ExecCredentialError("exec plugin didn't return a token or cert/key pair")
    if bool(certificate) != bool(key):
        raise ExecCredentialError("exec plugin returned only certificate or key, not both")
    if certificate and "-----BEGIN" not in certificate:
        raise ExecCredentialError(
            "failed parsing client key/certificate: tls: failed to find any PEM data in certificate input"
        )
    return status


def _check_types(answer: Object, version: str) -> None:
    """Refuse an answer whose status is none, or has something else where texts belong."""
    status = answer.get("status")
    if not isinstance(status, dict | None):
        raise ExecCredentialError(
            f"decoding stdout: json: cannot unmarshal {_json_name(status)} into Go struct field ExecCredential.status "
            f"of type {version}.ExecCredentialStatus"
        )
    for name in _TEXTS:
        value = (status or {}).get(name)
        if not isinstance(value, str | None):
            raise ExecCredentialError(
                f"decoding stdout: json: cannot unmarshal {_json_name(value)} into Go struct field "
                f"ExecCredentialStatus.status.{name} of type string"
            )
    moment = (status or {}).get("expirationTimestamp")
    if moment:
        from pybernetes.lib import rfc3339

        try:
            rfc3339.parse(moment)
        except ValueError:
            raise ExecCredentialError(
                f'decoding stdout: parsing time "{moment}" as "2006-01-02T15:04:05Z07:00": cannot parse it'
            ) from None
