"""Credentials from a program that the kubeconfig names."""

from __future__ import annotations

import json
import os
import subprocess

from pybernetes.client import exec_credential
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError, NoConnection, Verbatim
from pybernetes.tools.kubectl.kubeconfig.access import Access

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


_HINT = """

It looks like you are trying to use a client-go credential plugin that is not installed.

To learn more about this feature, consult the documentation available at:
      https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins

"""


def credentials(access: Access) -> None:
    """Run the program and take the token or the certificate that it returns."""
    settings = access.exec or {}
    try:
        exec_credential.check(settings)
    except ValueError as error:
        raise CommandError(str(error)) from None
    if not settings.get("interactiveMode") and not settings["apiVersion"].endswith("beta1"):
        raise Verbatim(
            f"Error in configuration: interactiveMode must be specified for {access.user} to use exec authentication "
            "plugin"
        )
    try:
        interactive = exec_credential.is_interactive(settings, os.isatty(0))
    except ValueError as error:
        raise _failed(str(error)) from None
    cluster = {**access.cluster, "server": access.server}
    info = exec_credential.request(settings, cluster, access.authority.encode(), interactive)
    command = _permitted(settings["command"], access.plugin_policy)
    try:
        done = subprocess.run(
            [command, *(settings.get("args") or ())],
            env=exec_credential.environment(settings, os.environ, json.dumps(info)),
            stdout=subprocess.PIPE,
            check=False,
            stdin=None if interactive else subprocess.DEVNULL,
        )
    except OSError:
        hint = f"{_HINT}{settings['installHint']}" if settings.get("installHint") else ""
        command = settings["command"]
        raise _failed(f"exec: executable {command} not found{hint}") from None
    if done.returncode:
        raise _failed(f"exec: executable {command} failed with exit code {done.returncode}")
    try:
        status = exec_credential.status_of(json.loads(done.stdout), settings)
    except json.JSONDecodeError as error:
        raise _failed(f"decoding stdout: {error}") from None
    except ValueError as error:
        raise _failed(str(error)) from None
    if status.get("token"):
        access.headers["Authorization"] = f"Bearer {status['token']}"
    if status.get("clientCertificateData"):
        access.certificate, access.key = status["clientCertificateData"], status["clientKeyData"]


def _permitted(command: str, preference: Object) -> str:
    """Return the program to run; refuse one that the user's preferences do not allow."""
    policy = preference.get("credentialPluginPolicy") or "AllowAll"
    if policy == "AllowAll":
        return command
    if policy == "DenyAll":
        raise _failed(f'plugin "{command}" not allowed: policy set to "DenyAll"')
    import shutil

    listed = [entry["command"] for entry in preference.get("credentialPluginAllowlist") or ()]
    path = shutil.which(command)
    if command in listed:
        return command
    if path is None:
        raise _failed(
            f'plugin path "{command}" cannot be resolved for credential plugin allowlist check: exec: "{command}": '
            "executable file not found in $PATH"
        )
    if path in listed or path in [shutil.which(name) for name in listed]:
        return path
    raise _failed(f'plugin path "{path}" is not permitted by the credential plugin allowlist')


def _failed(why: str) -> NoConnection:
    return NoConnection(f"Unable to connect to the server: getting credentials: {why}")
