"""kubeadm join: makes this machine a node of a cluster, or another control plane."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.lib.flags import Flag
from pybernetes.tools.kubeadm import command_line, workflow
from pybernetes.tools.kubeadm.checks.check import ignored_names
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.configuration import documents, loading
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import Folders, say
from pybernetes.tools.kubeadm.join_data import JoinData
from pybernetes.tools.kubeadm.leftovers import Leftovers
from pybernetes.tools.kubeadm.phases.join import PHASES
from pybernetes.tools.kubeadm.phases.join._flags import ENDPOINT

SUMMARY = "Run this on any machine you wish to join an existing cluster"
FLAGS = (
    command_line.CONFIG,
    command_line.DRY_RUN,
    command_line.IGNORE,
    command_line.SKIP_PHASES,
    command_line.PATCHES,
    command_line.CRI_SOCKET,
    Flag(
        "apiserver-advertise-address",
        "",
        "The IP address the API Server of a new control plane will advertise.",
    ),
    Flag("apiserver-bind-port", 6443, "The port for the API Server of a new control plane to bind to."),
    Flag("certificate-key", "", "Use this key to decrypt the certificate secrets uploaded by init."),
    Flag("control-plane", False, "Create a new control plane instance on this node"),
    Flag("discovery-file", "", "A file or URL from which to load cluster information."),
    Flag(
        "discovery-token", "", "The token used to validate cluster information fetched from the API server."
    ),
    Flag(
        "discovery-token-ca-cert-hash",
        (),
        'Validate that the root CA public key matches this hash ("<type>:<value>").',
    ),
    Flag(
        "discovery-token-unsafe-skip-ca-verification",
        False,
        "Allow joining without --discovery-token-ca-cert-hash.",
    ),
    Flag("node-name", "", "Specify the node name."),
    Flag(
        "tls-bootstrap-token",
        "",
        "The token used to authenticate with the control plane while joining the node.",
    ),
    Flag(
        "token",
        "",
        "Use this token for both discovery-token and tls-bootstrap-token when those are not provided.",
    ),
)


def configuration(arguments: Arguments, endpoint: str) -> Object:
    """Return the JoinConfiguration that a command line means."""
    command_line.check_mixed(arguments)
    if arguments.config:
        given = documents.read(documents.read_own(arguments.config)).own.get("JoinConfiguration")
        if given is None:
            raise KubeadmError("no JoinConfiguration found in the supplied config")
    else:
        given = _document(arguments, endpoint)
    if arguments.node_name:
        given["nodeRegistration"] = {**(given.get("nodeRegistration") or {}), "name": arguments.node_name}
    return loading.join(given)


def _document(arguments: Arguments, endpoint: str) -> Object:
    discovery: Object = {}
    if arguments.discovery_file:
        discovery["file"] = {"kubeConfigPath": arguments.discovery_file}
    if endpoint or arguments.discovery_token or (arguments.token and not arguments.discovery_file):
        discovery["bootstrapToken"] = {
            "token": arguments.discovery_token or arguments.token,
            "apiServerEndpoint": endpoint,
            "caCertHashes": list(arguments.discovery_token_ca_cert_hash),
            "unsafeSkipCAVerification": arguments.discovery_token_unsafe_skip_ca_verification,
        }
    discovery["tlsBootstrapToken"] = arguments.tls_bootstrap_token or arguments.token
    given: Object = {"discovery": discovery, "nodeRegistration": {"criSocket": arguments.cri_socket}}
    if arguments.control_plane:
        given["controlPlane"] = {
            "certificateKey": arguments.certificate_key,
            "localAPIEndpoint": {
                "advertiseAddress": arguments.apiserver_advertise_address,
                "bindPort": arguments.apiserver_bind_port,
            },
        }
    return given


def _work(arguments: Arguments, names: tuple[str, ...] = ()) -> None:
    asyncio.run(_run(arguments, names))


async def _run(arguments: Arguments, names: tuple[str, ...]) -> None:
    given = configuration(arguments, arguments.words[0] if arguments.words else "")
    dry_run = arguments.is_dry_run(given)
    folders = Folders.dry_run("KUBEADM_JOIN_DRYRUN_DIR", "kubeadm-join-dryrun") if dry_run else Folders()
    patches = arguments.patches or (given.get("patches") or {}).get("directory", "")
    ignored = ignored_names(
        arguments.ignore_preflight_errors, given["nodeRegistration"].get("ignorePreflightErrors") or ()
    )
    data = JoinData(given, folders, dry_run, ignored, Path(patches) if patches else None)
    leftovers = Leftovers([folders.kubernetes, folders.kubelet])
    try:
        if names:
            await workflow.run_one(PHASES, names, data)
            return
        await workflow.run(PHASES, data, arguments.skip_phases or given.get("skipPhases") or ())
    except BaseException:
        if not names and not data.changed and not dry_run:
            leftovers.remove()
        raise
    finally:
        await data.close()
    await _tell(data)


async def _tell(data: JoinData) -> None:
    if data.control_plane is None:
        say(
            "\nThis node has joined the cluster:\n* The API server took its certificate signing request, and answered.\n"
            "* The kubelet uses its new certificate.\n\nRun 'kubectl get nodes' on the control-plane to see this node join the "
            "cluster.\n"
        )
        return
    stacked = "local" in (await data.settings()).cluster["etcd"]
    lines = [
        "",
        "This node has joined the cluster and a new control plane instance was created:",
        "",
        "* The API server took the kubelet's certificate signing request, and answered.",
        "* The node has the labels and the taint of a control plane.",
        "* The pods of the control plane run.",
        *(["* A new etcd member was added to the local/stacked etcd cluster."] if stacked else []),
        "",
        "To use the cluster as a regular user:",
        "",
        "  mkdir -p $HOME/.kube",
        f"  sudo cp -i {data.folders.kubernetes / 'admin.conf'} $HOME/.kube/config",
        "  sudo chown $(id -u):$(id -g) $HOME/.kube/config",
        "",
        "Run 'kubectl get nodes' to see this node join the cluster.",
        "",
    ]
    say("\n".join(lines))


COMMAND = Command(
    "join",
    SUMMARY,
    _work,
    FLAGS,
    (
        workflow.command(
            'Use this command to invoke single phase of the "join" workflow', PHASES, FLAGS, _work
        ),
    ),
    words=ENDPOINT,
    most=1,
    about=f"{SUMMARY}\n\n{workflow.listing(PHASES, 'join [api-server-endpoint]')}",
)
