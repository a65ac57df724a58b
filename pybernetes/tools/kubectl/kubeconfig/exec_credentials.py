"""Credentials from a program that the kubeconfig names."""

from __future__ import annotations

import json
import os
import subprocess

from pybernetes.client import exec_credential
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError, NoConnection, Verbatim, quoted
from pybernetes.tools.kubectl.kubeconfig.access import Access

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


MOST = 16 << 20  # of what a program may print
_HINT = """

It looks like you are trying to use a client-go credential plugin that is not installed.

To learn more about this feature, consult the documentation available at:
      https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins"""


def credentials(access: Access) -> None:
    """Run the program and take the token or the certificate that it returns."""
    settings = access.exec or {}
    check_settings(settings, access.user)
    try:
        exec_credential.check(settings)
    except ValueError as error:
        raise CommandError(str(error)) from None
    try:
        interactive = exec_credential.is_interactive(settings, os.isatty(0), access.input_taken)
    except ValueError as error:
        raise _failed(str(error)) from None
    cluster = {**access.cluster, "server": access.server}
    info = exec_credential.request(settings, cluster, access.authority.encode(), interactive)
    command = _permitted(settings["command"], access.plugin_policy)
    path = exec_credential.program(command)
    if not path:
        hint = f"\n\n{settings['installHint']}" if settings.get("installHint") else ""
        raise _failed(f"exec: executable {settings['command']} not found{_HINT}{hint}")
    try:
        process = subprocess.Popen(
            [path, *(settings.get("args") or ())],
            env=exec_credential.environment(settings, os.environ, json.dumps(info)),
            stdout=subprocess.PIPE,
            stdin=None if interactive else subprocess.DEVNULL,
        )
    except OSError as error:
        raise _failed(f"exec: fork/exec {path}: {(error.strerror or '').lower()}") from None
    output = _output(process, command)
    if process.returncode:
        raise _failed(f"exec: executable {command} failed with exit code {max(process.returncode, -1)}")
    try:
        status = exec_credential.status_of(exec_credential.read(output), settings)
    except ValueError as error:
        raise _failed(str(error)) from None
    if status.get("token"):
        access.headers["Authorization"] = f"Bearer {status['token']}"
    if status.get("clientCertificateData"):
        access.certificate, access.key = status["clientCertificateData"], status["clientKeyData"]


def _output(process: subprocess.Popen[bytes], command: str) -> bytes:
    """Return what a program prints until it ends; one that prints without end is ended."""
    assert process.stdout is not None
    try:
        with process.stdout as stream:
            output = stream.read(MOST + 1)
        if len(output) > MOST:
            raise _failed(f"exec: executable {command} printed more than {MOST >> 20} MiB")
        process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    return output


def check_settings(settings: Object, user: str) -> None:
    """Refuse settings of a user that lack something, with all that they lack."""
    version, mode = settings.get("apiVersion") or "", settings.get("interactiveMode")
    needed = ["command", "apiVersion"] + ([] if version.endswith("beta1") else ["interactiveMode"])
    problems = [
        f"{name} must be specified for {user} to use exec authentication plugin"
        for name in needed
        if not settings.get(name)
    ]
    if mode and mode not in ("Never", "IfAvailable", "Always"):
        problems.append(f"invalid interactiveMode for {user}: {quoted(str(mode))}")
    if len(problems) > 1:
        raise Verbatim("Error in configuration: \n" + "\n".join(f"* {problem}" for problem in problems))
    if problems:
        raise CommandError(problems[0])


def _permitted(command: str, preference: Object) -> str:
    """Return the program to run; refuse one that the user's preferences do not allow."""
    policy = preference.get("credentialPluginPolicy") or "AllowAll"
    if policy == "AllowAll":
        return command
    if policy == "DenyAll":
        raise _failed(f'plugin "{command}" not allowed: policy set to "DenyAll"')
    listed = [entry["command"] for entry in preference.get("credentialPluginAllowlist") or ()]
    path = exec_credential.program(command) or None
    if command in listed:
        return command
    if path is None:
        raise _failed(
            f'plugin path "{command}" cannot be resolved for credential plugin allowlist check: exec: "{command}": '
            "executable file not found in $PATH"
        )
    if path in listed or path in [exec_credential.program(name) for name in listed]:
        return path
    raise _failed(f'plugin path "{path}" is not permitted by the credential plugin allowlist')


def _failed(why: str) -> NoConnection:
    return NoConnection(f"getting credentials: {why}")
