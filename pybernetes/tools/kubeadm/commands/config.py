"""kubeadm config: prints defaults, checks and migrates configuration files, lists and pulls images."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from pybernetes import KUBERNETES_VERSION
from pybernetes.api.resource import Object
from pybernetes.lib.flags import Flag, Ignored
from pybernetes.lib.tls.tls import write_atomically
from pybernetes.tools.kubeadm import command_line, output, runtime
from pybernetes.tools.kubeadm.checks import images
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.configuration import (
    component_configs,
    defaults,
    documents,
    loading,
    migration,
    printing,
)
from pybernetes.tools.kubeadm.configuration.kinds import EXPERIMENTAL
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import CRI_SOCKET

SUMMARY = "Manage configuration for a kubeadm cluster persisted in a ConfigMap in the cluster"
_KUBECONFIG = Ignored("kubeconfig", "/etc/kubernetes/admin.conf", "no command below this one asks a cluster")
_EXPERIMENTAL = Flag("allow-experimental-api", False, "Allow the experimental, work in progress APIs.")
_IMAGES = (
    command_line.CONFIG,
    Flag("feature-gates", "", "A set of key=value pairs that describe feature gates for various features."),
    Flag(
        "image-repository", "registry.k8s.io", "Choose a container registry to pull control plane images from"
    ),
    Flag("kubernetes-version", "stable-1", "Choose a specific Kubernetes version for the control plane."),
    _KUBECONFIG,
)
_TOKEN = "abcdef.0123456789abcdef"


def _print(kind: str) -> Callable[[Arguments], None]:
    def work(arguments: Arguments) -> None:
        shown = (printing.shown(value) for value in _PRINTED[kind]())
        print(printing.documents(*shown, *_components(arguments)), end="")

    return work


def _validate(arguments: Arguments) -> None:
    if not arguments.config:
        raise KubeadmError("the --config flag is mandatory")
    content = documents.read_file(arguments.config)
    validate(documents.read(content, strict=True, experimental=arguments.allow_experimental_api))
    print("ok")


def _init_defaults() -> list[Object]:
    init = defaults.init(
        {
            "localAPIEndpoint": {"advertiseAddress": "1.2.3.4"},
            "bootstrapTokens": [{"token": _TOKEN}],
            "nodeRegistration": {"criSocket": CRI_SOCKET, "name": "node"},
        }
    )
    return [init, defaults.cluster({"kubernetesVersion": KUBERNETES_VERSION.lstrip("v")})]


def _join_defaults() -> list[Object]:
    import socket

    bootstrap = {
        "token": _TOKEN,
        "apiServerEndpoint": "kube-apiserver:6443",
        "unsafeSkipCAVerification": True,
    }
    registration = {"criSocket": CRI_SOCKET, "name": socket.gethostname()}
    return [defaults.join({"discovery": {"bootstrapToken": bootstrap}, "nodeRegistration": registration})]


_PRINTED = {
    "init": _init_defaults,
    "join": _join_defaults,
    "reset": lambda: [defaults.reset({"criSocket": CRI_SOCKET})],
    "upgrade": lambda: [defaults.upgrade({})],
}


def _components(arguments: Arguments) -> list[Object]:
    known = {component_configs.KUBELET, component_configs.PROXY}
    for name in arguments.component_configs:
        if name not in known:
            raise KubeadmError(f"--component-configs needs to contain some of [{' '.join(sorted(known))}]")
    made = component_configs.completed({}, _init_defaults()[1], "1.2.3.4")
    return [made[name] for name in arguments.component_configs]


def validate(given: documents.Documents) -> None:
    """Check every document as its command would."""
    if not given.own:
        raise KubeadmError("no kubeadm.k8s.io configuration kind was found in the configuration file")
    if {"InitConfiguration", "ClusterConfiguration"} & set(given.own):
        loading.init(given)
    for kind, load in (
        ("JoinConfiguration", loading.join),
        ("ResetConfiguration", loading.reset),
        ("UpgradeConfiguration", loading.upgrade),
    ):
        if kind in given.own:
            load(given.own[kind])


def _migrate(arguments: Arguments) -> None:
    if not arguments.old_config:
        raise KubeadmError("the --old-config flag is mandatory")
    migrated = [
        migration.migrated(value)
        for _, _, value, _ in documents.split(documents.read_file(arguments.old_config))
    ]
    experimental = arguments.allow_experimental_api
    given = documents.read(printing.documents(*migrated).encode(), strict=True, experimental=experimental)
    made: list[Object] = []
    if {"InitConfiguration", "ClusterConfiguration"} & set(given.own):
        settings = loading.init(given)
        # What only this machine knows of its etcd is none of the file's.
        local = (given.own.get("ClusterConfiguration") or {}).get("etcd", {}).get("local") or {}
        if "local" in settings.cluster["etcd"] and "imageTag" not in local:
            settings.cluster["etcd"]["local"].pop("imageTag", None)
        made += [settings.init, settings.cluster]
    for kind, load in (
        ("JoinConfiguration", loading.join),
        ("ResetConfiguration", loading.reset),
        ("UpgradeConfiguration", loading.upgrade),
    ):
        if kind in given.own:
            made.append(load(given.own[kind]))
    if experimental:
        made = [{**value, "apiVersion": EXPERIMENTAL} for value in made]
    text = printing.documents(*(printing.shown(value) for value in made), *given.components.values())
    if not arguments.new_config:
        sys.stdout.write(text)
        return
    path = Path(arguments.new_config)
    try:
        # It has tokens in it, and a link may lead to somebody's file.
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise OSError(f"{path} is no regular file; without --new-config the configuration is printed")
        write_atomically(path, text.encode(), 0o600)
    except OSError as error:
        raise KubeadmError(f"failed to write the new configuration: {error}") from None


def _image_settings(arguments: Arguments, socket: str) -> loading.InitSettings:
    """Return the configuration whose images are meant, checked as ``init`` checks it."""
    if arguments.config:
        given = documents.read(documents.read_own(arguments.config))
        if not {"InitConfiguration", "ClusterConfiguration"} & set(given.own):
            raise KubeadmError("no InitConfiguration or ClusterConfiguration kind was found in the YAML file")
    else:
        given = documents.Documents()
        given.own["ClusterConfiguration"] = {
            "kubernetesVersion": arguments.kubernetes_version,
            "imageRepository": arguments.image_repository,
        }
    if arguments.feature_gates:
        given.own.setdefault("ClusterConfiguration", {})["featureGates"] = command_line.pairs(
            arguments.feature_gates
        )
    node = given.own.setdefault("InitConfiguration", {}).setdefault("nodeRegistration", {})
    node["criSocket"] = node.get("criSocket") or socket
    return loading.init(given)


def _images(arguments: Arguments, action: str) -> None:
    command_line.pairs(arguments.feature_gates)
    if action == "list":
        show = output.printer(arguments, lambda value: "\n".join(value["images"]) + "\n")
        try:
            settings = _image_settings(arguments, CRI_SOCKET)  # nobody is asked for images
        except KubeadmError as error:
            raise KubeadmError(f"could not convert cfg to an internal cfg: {error}") from None
    else:
        settings = _image_settings(arguments, arguments.cri_socket)
    listed = images.listing(settings.cluster)
    if action == "pull":
        problems = asyncio.run(runtime.pull(settings.init["nodeRegistration"]["criSocket"], listed))
        for image in listed:
            if not any(image in problem for problem in problems):
                print(f"[config/images] Pulled {image}")
        if problems:
            raise KubeadmError("; ".join(problems))
        return
    show(output.typed("Images", {"images": listed}))


_COMPONENTS = Flag(
    "component-configs", (), "Also print the defaults of KubeletConfiguration and KubeProxyConfiguration."
)


def _printing(kind: str, *flags: Flag) -> Command:
    summary = f"Print the default {kind} configuration"
    return Command(f"{kind}-defaults", summary, _print(kind), (*flags, _KUBECONFIG), others=(_COMPONENTS,))


COMMAND = Command(
    "config",
    SUMMARY,
    flags=(_KUBECONFIG,),
    commands=(
        Command(
            "images",
            "Interact with container images used by kubeadm",
            flags=(_KUBECONFIG,),
            commands=(
                Command(
                    "list",
                    "Print a list of images kubeadm will use",
                    lambda arguments: _images(arguments, "list"),
                    (*_IMAGES, *output.FLAGS),
                ),
                Command(
                    "pull",
                    "Pull images used by kubeadm",
                    lambda arguments: _images(arguments, "pull"),
                    (*_IMAGES, command_line.CRI_SOCKET),
                ),
            ),
        ),
        Command(
            "migrate",
            "Read an older version of the kubeadm configuration API types from a file, and output the newest",
            _migrate,
            (
                _EXPERIMENTAL,
                Flag("new-config", "", "Path to the resulting equivalent config file; by default it is printed."),
                Flag("old-config", "", "Path to the kubeadm config file that is using an old API version."),
                _KUBECONFIG,
            ),
        ),
        Command(
            "print",
            "Print configuration",
            flags=(_KUBECONFIG,),
            commands=(
                _printing("init", _COMPONENTS), _printing("join"), _printing("reset"), _printing("upgrade"),
            ),
        ),
        Command(
            "validate",
            "Read a file containing the kubeadm configuration API and report any validation errors",
            _validate,
            (
                Ignored("allow-deprecated-api", False, "no version of the API is deprecated"),
                _EXPERIMENTAL,
                command_line.CONFIG,
                _KUBECONFIG,
            ),
        ),
    ),
)  # fmt: skip
