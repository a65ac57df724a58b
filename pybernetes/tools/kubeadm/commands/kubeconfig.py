"""kubeadm kubeconfig: kubeconfigs for more users, signed by the authority on this machine."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client import kubeconfig
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.tools.kubeadm import certificates, cluster_settings, command_line, kubeconfig_files
from pybernetes.tools.kubeadm.certificate_list import Subject
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.configuration import defaults, documents, loading
from pybernetes.tools.kubeadm.configuration.printing import to_yaml
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import ADMIN
from pybernetes.tools.kubeadm.objects import ClusterObjects

SUMMARY = "Kubeconfig file utilities"
_FLAGS = (
    command_line.CONFIG,
    Flag("client-name", "", "The name of user. It will be used as the CN if client certificates are created"),
    Flag("org", (), "The organizations of the client certificate. It will be used as the O"),
    Flag(
        "token",
        "",
        "The token that should be used as the authentication mechanism, instead of client certificates",
    ),
    Flag("validity-period", Seconds(0), "The validity period of the client certificate."),
)


def _user(arguments: Arguments) -> None:
    """Print the kubeconfig of a user."""
    cluster, endpoint = asyncio.run(_cluster(arguments))
    folder = Path(cluster["certificatesDir"])
    _check_authority(folder / "ca.crt")
    server = kubeconfig_files.control_plane_server(
        cluster, endpoint["advertiseAddress"], endpoint["bindPort"]
    )
    user = arguments.client_name
    if arguments.token:
        text = (folder / "ca.crt").read_bytes()
        made = kubeconfig_files.value(server, cluster["clusterName"], text, user, {"token": arguments.token})
    else:
        subject = Subject(cluster, user, endpoint["advertiseAddress"])
        made = kubeconfig_files.for_user(
            subject,
            certificates.authority(folder),
            server,
            user,
            tuple(arguments.org),
            float(arguments.validity_period),
        )
    sys.stdout.write(to_yaml(made))


def _check_authority(path: Path) -> None:
    if certificates.files.read_certificate(path) is None:
        raise KubeadmError(
            "couldn't create a kubeconfig; the CA files couldn't be loaded: failed to load certificate: couldn't load the "
            f"certificate file {path}: open {path}: no such file or directory"
        )


async def _cluster(arguments: Arguments) -> tuple[Object, Object]:
    """Return the ClusterConfiguration of a file, of the cluster or of no cluster yet, and where its API server is."""
    if arguments.config or not ADMIN.exists():
        given = documents.read(documents.read_own(arguments.config)).own if arguments.config else {}
        endpoint = loading.endpoint(defaults.init(given.get("InitConfiguration") or {})["localAPIEndpoint"])
        cluster = defaults.cluster(given.get("ClusterConfiguration") or {})
        loading.complete_cluster(cluster, endpoint)
        return cluster, endpoint
    try:
        config = kubeconfig.load(ADMIN)
    except kubeconfig.ConfigError as error:
        raise KubeadmError(f"couldn't load {ADMIN}: {error}") from None
    async with config.client(user_agent="kubeadm") as client:
        cluster = await cluster_settings.cluster_configuration(ClusterObjects(client))
    return cluster, loading.endpoint({"bindPort": 6443})


COMMAND = Command(
    "kubeconfig",
    SUMMARY,
    commands=(
        Command(
            "user",
            "Output a kubeconfig file for an additional user",
            _user,
            _FLAGS,
            required=("client-name",),
        ),
    ),
)
