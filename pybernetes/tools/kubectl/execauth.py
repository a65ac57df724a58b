"""Credentials from a program that the kubeconfig names."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.kubeconfig import Access


def credentials(access: Access) -> None:
    """Runs the program and takes the token or the certificate that it gives."""
    settings: dict[str, Any] = access.exec or {}
    command = settings.get("command") or ""
    version = settings.get("apiVersion") or ""
    if version not in ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"):
        raise CommandError(f'exec plugin: invalid apiVersion "{version}"')
    environment = dict(os.environ)
    for each in settings.get("env") or ():
        environment[each["name"]] = each["value"]
    spec: dict[str, Any] = {"interactive": os.isatty(0)}
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
            [command, *(settings.get("args") or ())], env=environment, stdout=subprocess.PIPE, check=False
        )
    except OSError:
        hint = f"\n\n{settings['installHint']}" if settings.get("installHint") else ""
        raise CommandError(f"getting credentials: exec: executable {command} not found{hint}") from None
    if done.returncode:
        raise CommandError(
            f"getting credentials: exec: executable {command} failed with exit code {done.returncode}"
        )
    try:
        status = json.loads(done.stdout).get("status") or {}
    except ValueError as error:
        raise CommandError(f"getting credentials: decoding stdout: {error}") from None
    if status.get("token"):
        access.headers["Authorization"] = f"Bearer {status['token']}"
    if status.get("clientCertificateData"):
        access.certificate, access.key = status["clientCertificateData"], status.get("clientKeyData") or ""
    if not status.get("token") and not status.get("clientCertificateData"):
        raise CommandError("getting credentials: exec plugin didn't return a token or cert/key pair")
