"""create secret docker-registry."""

from __future__ import annotations

import base64

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator
from pybernetes.tools.kubectl.commands.create._sources import gather
from pybernetes.tools.kubectl.commands.create.secret.generic import secret
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.json import dumps

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a secret for use with a Docker registry"
USAGE = "create secret docker-registry NAME --docker-username=user --docker-password=password --docker-email=email [--docker-server=string] [--from-file=[key=]source] [--dry-run=server|client|none]"
FLAGS = (*COMMON, """
- append-hash bool false | append a hash of the data to the name
- docker-email string | address for the registry
- docker-password string | password for the registry
- docker-server string https://index.docker.io/v1/ | the registry
- docker-username string | user name for the registry
- from-file list | file, or key=file
- from-literal array |
- from-env-file list |
""")  # fmt: skip


def make(context: Context, name: str) -> Object:
    """Return a Secret that a kubelet can pull images with."""
    flags = context.flags
    kind = "kubernetes.io/dockerconfigjson"
    if flags.from_file:
        data = [
            (".dockerconfigjson" if "=" not in text else key, value)
            for text, (key, value) in zip(flags.from_file, gather(context, "secret"), strict=False)
        ]
        return secret(context, name, data, kind)
    if not flags.docker_username or not flags.docker_password or not flags.docker_server:
        raise CommandError(
            "either --from-file or the combination of --docker-username, --docker-password and --docker-server is required"
        )
    pair = base64.b64encode(f"{flags.docker_username}:{flags.docker_password}".encode()).decode()
    entry = {"username": flags.docker_username, "password": flags.docker_password}
    if flags.docker_email:
        entry["email"] = flags.docker_email
    text = dumps({"auths": {flags.docker_server: {**entry, "auth": pair}}}, indent=None, typed=True)
    return secret(context, name, [(".dockerconfigjson", text.encode())], kind)


run = generator(make, "failed to create secret ")
