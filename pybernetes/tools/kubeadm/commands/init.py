"""kubeadm init: makes this machine the first control plane of a cluster."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.tools.kubeadm import command_line, external_authorities, tokens, workflow
from pybernetes.tools.kubeadm.checks.check import ignored_names
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.configuration import documents, loading
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import Folders, InitData, say
from pybernetes.tools.kubeadm.leftovers import Leftovers
from pybernetes.tools.kubeadm.phases.init import PHASES
from pybernetes.tools.kubeadm.phases.init.addon import PRINT_MANIFEST

SUMMARY = "Run this command in order to set up the Kubernetes control plane"
FLAGS = (
    command_line.CONFIG,
    command_line.DRY_RUN,
    command_line.IGNORE,
    command_line.SKIP_PHASES,
    command_line.PATCHES,
    command_line.CRI_SOCKET,
    Flag(
        "apiserver-advertise-address", "", "The IP address the API Server will advertise it's listening on."
    ),
    Flag("apiserver-bind-port", 6443, "Port for the API Server to bind to."),
    Flag(
        "apiserver-cert-extra-sans",
        (),
        "Optional extra Subject Alternative Names of the API Server's certificate.",
    ),
    Flag("cert-dir", "/etc/kubernetes/pki", "The path where to save and store the certificates."),
    Flag(
        "certificate-key",
        "",
        "Key used to encrypt the control-plane certificates in the kubeadm-certs Secret.",
    ),
    Flag("control-plane-endpoint", "", "Specify a stable IP address or DNS name for the control plane."),
    Flag("feature-gates", "", "A set of key=value pairs that describe feature gates for various features."),
    Flag(
        "image-repository", "registry.k8s.io", "Choose a container registry to pull control plane images from"
    ),
    Flag("kubernetes-version", "stable-1", "Choose a specific Kubernetes version for the control plane."),
    Flag("node-name", "", "Specify the node name."),
    Flag("pod-network-cidr", "", "Specify range of IP addresses for the pod network."),
    Flag("service-cidr", "10.96.0.0/12", "Use alternative range of IP address for service VIPs."),
    Flag("service-dns-domain", "cluster.local", "Use alternative domain for services."),
    Flag(
        "skip-certificate-key-print",
        False,
        "Don't print the key used to encrypt the control-plane certificates.",
    ),
    Flag("skip-token-print", False, "Skip printing of the default bootstrap token."),
    Flag(
        "token",
        "",
        "The token to use for establishing bidirectional trust between nodes and control-plane nodes.",
    ),
    Flag("token-ttl", Seconds(86400), "The duration before the token is automatically deleted; 0 for never."),
    Flag("upload-certs", False, "Upload control-plane certificates to the kubeadm-certs Secret."),
)
# What only single phases take.
_PHASE_FLAGS = (
    Flag("kubeconfig", "", "The kubeconfig file to use when talking to the cluster."),
    Flag("kubeconfig-dir", "/etc/kubernetes", "The path where to save the kubeconfig files."),
)


def settings(arguments: Arguments) -> loading.InitSettings:
    """Return the configuration that a command line means."""
    command_line.check_mixed(arguments)
    if arguments.config:
        given = documents.read(documents.read_own(arguments.config))
        if not {"InitConfiguration", "ClusterConfiguration"} & set(given.own):
            raise KubeadmError(
                "no InitConfiguration or ClusterConfiguration kind was found in the configuration file"
            )
    else:
        given = documents.Documents(own=_documents(arguments))
    registration = given.own.setdefault("InitConfiguration", {}).setdefault("nodeRegistration", {})
    if arguments.node_name:
        registration["name"] = arguments.node_name
    return loading.init(given)


def _documents(arguments: Arguments) -> dict[str, Object]:
    token: Object = {"ttl": f"{int(arguments.token_ttl)}s"} if arguments.was_given("token-ttl") else {}
    if arguments.token:
        tokens.parts(arguments.token)
        token["token"] = arguments.token
    init: Object = {
        "bootstrapTokens": [token],
        "localAPIEndpoint": {
            "advertiseAddress": arguments.apiserver_advertise_address, "bindPort": arguments.apiserver_bind_port,
        },
        "nodeRegistration": {"criSocket": arguments.cri_socket},
        "certificateKey": arguments.certificate_key,
    }  # fmt: skip
    cluster: Object = {
        "kubernetesVersion": arguments.kubernetes_version,
        "certificatesDir": arguments.cert_dir,
        "imageRepository": arguments.image_repository,
        "controlPlaneEndpoint": arguments.control_plane_endpoint,
        "apiServer": {"certSANs": list(arguments.apiserver_cert_extra_sans)} if arguments.apiserver_cert_extra_sans else {},
        "networking": {
            "serviceSubnet": arguments.service_cidr, "podSubnet": arguments.pod_network_cidr,
            "dnsDomain": arguments.service_dns_domain,
        },
    }  # fmt: skip
    if arguments.feature_gates:
        cluster["featureGates"] = command_line.pairs(arguments.feature_gates)
    return {"InitConfiguration": init, "ClusterConfiguration": cluster}


def data(arguments: Arguments) -> InitData:
    """Return what the phases share."""
    loaded = settings(arguments)
    dry_run = arguments.is_dry_run(loaded.init)
    if dry_run:
        folders = Folders.dry_run("KUBEADM_INIT_DRYRUN_DIR", "kubeadm-init-dryrun")
    else:
        folders = Folders(
            kubernetes=Path(arguments.kubeconfig_dir), certificates=Path(loaded.cluster["certificatesDir"])
        )
    patches = arguments.patches or (loaded.init.get("patches") or {}).get("directory", "")
    return InitData(
        loaded,
        folders,
        dry_run,
        upload_certs=arguments.upload_certs,
        skip_token_print=arguments.skip_token_print,
        skip_certificate_key_print=arguments.skip_certificate_key_print,
        ignored=ignored_names(
            arguments.ignore_preflight_errors,
            loaded.init["nodeRegistration"].get("ignorePreflightErrors") or (),
        ),
        kubeconfig=Path(arguments.kubeconfig) if arguments.kubeconfig else None,
        patches=Path(patches) if patches else None,
        print_manifest=arguments.print_manifest,
    )


def _work(arguments: Arguments, names: tuple[str, ...] = ()) -> None:
    asyncio.run(_run(arguments, names))


async def _run(arguments: Arguments, names: tuple[str, ...]) -> None:
    shared = data(arguments)
    leftovers = Leftovers([shared.folders.kubernetes, shared.folders.kubelet])
    try:
        if names:
            await workflow.run_one(PHASES, names, shared)
            return
        skipped = arguments.skip_phases or tuple(shared.init.get("skipPhases") or ())
        workflow.check_names(PHASES, skipped)
        external_authorities.check(
            Path(shared.cluster["certificatesDir"]),
            Path(arguments.kubeconfig_dir),
            upload=shared.upload_certs,
        )
        say(f"[init] Using Kubernetes version: {shared.cluster['kubernetesVersion']}")
        await workflow.run(PHASES, shared, skipped)
    except BaseException:
        if not names and not shared.changed and not shared.dry_run:
            leftovers.remove()
        raise
    finally:
        await shared.close()


_ALL = (*FLAGS, *_PHASE_FLAGS, PRINT_MANIFEST)
COMMAND = Command(
    "init",
    SUMMARY,
    _work,
    FLAGS,
    (
        workflow.command(
            'Use this command to invoke single phase of the "init" workflow', PHASES, _ALL, _work
        ),
    ),
    about=f"{SUMMARY}\n\n{workflow.listing(PHASES, 'init')}",
    others=(*_PHASE_FLAGS, PRINT_MANIFEST),
)
