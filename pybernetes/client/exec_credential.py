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


def is_interactive(settings: Mapping[str, Any], terminal: bool) -> bool:
    """Tell whether the program may ask the user; refuse if it must and there is no terminal."""
    mode = settings.get("interactiveMode") or "IfAvailable"
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
    given = {variable["name"]: variable["value"] for variable in settings.get("env") or ()}
    return {**existing, **given, "KUBERNETES_EXEC_INFO": info}


def status_of(answer: Any, settings: Mapping[str, Any]) -> Object:
    """Return the status of an answer; ExecCredentialError if there is no credential in it."""
    if not isinstance(answer, dict) or not isinstance(answer.get("status"), dict):
        raise ExecCredentialError("exec plugin didn't return a status field")
    wanted, version = settings["apiVersion"], answer.get("apiVersion")
    if version != wanted:
        raise ExecCredentialError(
            f"exec plugin is configured to use API version {wanted}, plugin returned version {version}"
        )
    status: Object = answer["status"]
    token, certificate, key = (
        status.get(name) for name in ("token", "clientCertificateData", "clientKeyData")
    )
    if not token and not certificate:
        raise ExecCredentialError("exec plugin didn't return a token or cert/key pair")
    if bool(certificate) != bool(key):
        raise ExecCredentialError("exec plugin returned only certificate or key, not both")
    return status
