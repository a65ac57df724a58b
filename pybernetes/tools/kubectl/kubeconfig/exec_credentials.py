"""Credentials from a program that the kubeconfig names."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from pybernetes.tools.kubectl.errors import CommandError, NoConnection, Verbatim
from pybernetes.tools.kubectl.kubeconfig.access import Access

_HINT = """

It looks like you are trying to use a client-go credential plugin that is not installed.

To learn more about this feature, consult the documentation available at:
      https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins

"""


def credentials(access: Access) -> None:
    """Run the program and take the token or the certificate that it returns."""
    settings: dict[str, Any] = access.exec or {}
    command = settings.get("command") or ""
    version = settings.get("apiVersion") or ""
    if version not in ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"):
        raise CommandError(f'exec plugin: invalid apiVersion "{version}"')
    mode = settings.get("interactiveMode") or ("IfAvailable" if version.endswith("beta1") else "")
    if not mode:
        raise Verbatim(
            f"Error in configuration: interactiveMode must be specified for {access.user} to use exec authentication "
            "plugin"
        )
    if mode == "Always" and not os.isatty(0):
        raise _failed("exec plugin cannot support interactive mode: standard input is not a terminal")
    environment = dict(os.environ)
    for variable in settings.get("env") or ():
        environment[variable["name"]] = variable["value"]
    spec: dict[str, Any] = {"interactive": mode != "Never" and os.isatty(0)}
    if settings.get("provideClusterInfo"):
        spec["cluster"] = {
            "server": access.server,
            **{k: v for k, v in access.cluster.items() if k != "server"},
        }
    environment["KUBERNETES_EXEC_INFO"] = json.dumps(
        {"kind": "ExecCredential", "apiVersion": version, "spec": spec}
    )
    try:
        done = subprocess.run(
            [command, *(settings.get("args") or ())],
            env=environment,
            stdout=subprocess.PIPE,
            check=False,
            stdin=subprocess.DEVNULL if mode == "Never" else None,
        )
    except OSError:
        hint = f"{_HINT}{settings['installHint']}" if settings.get("installHint") else ""
        raise _failed(f"exec: executable {command} not found{hint}") from None
    if done.returncode:
        raise _failed(f"exec: executable {command} failed with exit code {done.returncode}")
    try:
        answer = json.loads(done.stdout)
        status = answer.get("status") or {}
    except (ValueError, AttributeError) as error:
        raise _failed(f"decoding stdout: {error}") from None
    if answer.get("apiVersion") != version:
        raise _failed(
            f"exec plugin is configured to use API version {version}, plugin returned version "
            f"{answer.get('apiVersion')}"
        )
    if status.get("token"):
        access.headers["Authorization"] = f"Bearer {status['token']}"
    if status.get("clientCertificateData"):
        access.certificate, access.key = status["clientCertificateData"], status.get("clientKeyData") or ""
    if not status.get("token") and not status.get("clientCertificateData"):
        raise _failed("exec plugin didn't return a token or cert/key pair")


def _failed(why: str) -> NoConnection:
    return NoConnection(f"Unable to connect to the server: getting credentials: {why}")
