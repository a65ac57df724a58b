"""version: client and server."""

from __future__ import annotations

import os
import sys

from pybernetes import KUBERNETES_VERSION, __version__
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.kustomize import VERSION as KUSTOMIZE

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

SUMMARY = "Print the client and server version information"
USAGE = "version [flags]"
FLAGS = ("""
- client bool false | only the client's version; no server is asked
o output string | json or yaml
""",)  # fmt: skip


def client_version() -> Object:
    """Return the version of this kubectl in the form of the version endpoint."""
    major, minor = KUBERNETES_VERSION[1:].split(".")[:2]
    machine = os.uname().machine
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)
    return {
        "major": major, "minor": minor, "gitVersion": KUBERNETES_VERSION, "gitCommit": f"pybernetes-{__version__}",
        "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": f"python{sys.version.split()[0]}", "compiler": "cpython", "platform": f"linux/{machine}",
    }  # fmt: skip


def run(context: Context) -> None:
    """Print the versions."""
    flags = context.flags
    if context.args and not flags.client:  # the original looks at them only before it asks the server
        raise CommandError(f"extra arguments: [{' '.join(context.args)}]")
    if flags.output not in ("", "yaml", "json"):
        raise CommandError("--output must be 'yaml' or 'json'")
    versions: Object = {"clientVersion": client_version(), "kustomizeVersion": KUSTOMIZE}
    failure: CommandError | None = None
    if not flags.client:
        try:
            versions["serverVersion"] = context.client.about_server("/version")
        except CommandError as error:
            failure = error
    if flags.output == "json":
        from pybernetes.tools.kubectl.output.json import dumps

        context.out(dumps(versions, indent=2, typed=True))
    elif flags.output == "yaml":
        from pybernetes.tools.kubectl.output.yaml.printer import dumps as yaml_dumps

        context.stdout.write(yaml_dumps(versions))
        context.out()
    else:
        context.out(f"Client Version: {KUBERNETES_VERSION}")
        context.out(f"Kustomize Version: {KUSTOMIZE}")
        if "serverVersion" in versions:
            context.out(f"Server Version: {versions['serverVersion'].get('gitVersion')}")
    if failure is not None:
        raise failure
    if "serverVersion" in versions:
        _skew(context, versions["serverVersion"])


def _skew(context: Context, server: Object) -> None:
    ours = int(KUBERNETES_VERSION.split(".")[1])
    theirs = "".join(char for char in str(server.get("minor", "")) if char.isdigit())
    if theirs and abs(int(theirs) - ours) > 1:
        context.warn(
            f"WARNING: version difference between client (1.{ours}) and server "
            f"({server.get('major')}.{theirs}) exceeds the supported minor version skew of +/-1"
        )
