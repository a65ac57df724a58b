"""kubeadm config: prints defaults, checks and migrates configuration files, lists and pulls images."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from pybernetes import KUBERNETES_VERSION
from pybernetes.lib.flags import Flag
from pybernetes.tools.kubeadm import command_line, runtime
from pybernetes.tools.kubeadm.checks import images
from pybernetes.tools.kubeadm.command_line import Arguments
from pybernetes.tools.kubeadm.configuration import (
    component_configs,
    defaults,
    documents,
    loading,
    migration,
    printing,
)
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import CRI_SOCKET

Object = dict[str, Any]
SUMMARY = "Manage configuration for a kubeadm cluster persisted in a ConfigMap in the cluster"
FLAGS = (
    command_line.CONFIG,
    command_line.CRI_SOCKET,
    Flag(
        "component-configs", (), "Also print the defaults of KubeletConfiguration and KubeProxyConfiguration."
    ),
    Flag("old-config", "", "Path to the kubeadm config file that is using an old API version (migrate)."),
    Flag(
        "new-config", "", "Path to the resulting equivalent config file; by default it is printed (migrate)."
    ),
    Flag("kubernetes-version", "stable-1", "Choose a specific Kubernetes version for the control plane."),
    Flag(
        "image-repository", "registry.k8s.io", "Choose a container registry to pull control plane images from"
    ),
    Flag("output", "text", "Output format: text, json or yaml (images list)."),
)
_TOKEN = "abcdef.0123456789abcdef"


def main(argv: list[str]) -> int:
    """Run ``print KIND-defaults``, ``validate``, ``migrate``, ``images list`` or ``images pull``."""
    summary = f"{SUMMARY}: print|validate|migrate|images list|images pull"
    arguments = command_line.parse("kubeadm config", summary, FLAGS, argv, most=2, short={"-o": "--output"})
    first, second = (*arguments.words, "", "")[:2]
    if first == "print":
        kind = (second or "init-defaults").removesuffix("-defaults")
        if kind not in _PRINTED:
            raise KubeadmError(f'unknown command "{second}" for "kubeadm config print"')
        print(
            printing.documents(
                *(printing.shown(value) for value in _PRINTED[kind]()), *_components(arguments, kind)
            ),
            end="",
        )
    elif first == "validate":
        if not arguments.config:
            raise KubeadmError("the --config flag is mandatory")
        validate(documents.read(documents.read_file(arguments.config), strict=True))
        print("ok")
    elif first == "migrate":
        _migrate(arguments)
    elif (first, second) in (("images", "list"), ("images", "pull")):
        _images(arguments, second)
    else:
        where = f"kubeadm config {first}" if first == "images" else "kubeadm config"
        raise KubeadmError(f'unknown command "{second or first}" for "{where}"')
    return 0


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


def _components(arguments: Arguments, kind: str) -> list[Object]:
    known = {component_configs.KUBELET, component_configs.PROXY}
    for name in arguments.component_configs:
        if name not in known:
            raise KubeadmError(f'unknown component config "{name}"; known are {", ".join(sorted(known))}')
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
    given = documents.read(printing.documents(*migrated).encode(), strict=True)
    made: list[Object] = []
    if {"InitConfiguration", "ClusterConfiguration"} & set(given.own):
        settings = loading.init(given)
        # What only this machine knows of its etcd is none of the file's.
        local = (given.own.get("ClusterConfiguration") or {}).get("etcd", {}).get("local") or {}
        if "local" in settings.cluster["etcd"] and "imageTag" not in local:
            settings.cluster["etcd"]["local"].pop("imageTag", None)
        made += [settings.init, settings.cluster]
    for kind, load in (("JoinConfiguration", loading.join), ("ResetConfiguration", loading.reset)):
        if kind in given.own:
            made.append(load(given.own[kind]))
    text = printing.documents(*(printing.shown(value) for value in made), *given.components.values())
    if not arguments.new_config:
        sys.stdout.write(text)
        return
    try:
        Path(arguments.new_config).write_text(text)
    except OSError as error:
        raise KubeadmError(f"failed to write the new configuration: {error}") from None


def _images(arguments: Arguments, action: str) -> None:
    command_line.check_mixed(arguments)
    if arguments.config:
        given = documents.read(documents.read_file(arguments.config)).own.get("ClusterConfiguration") or {}
    else:
        given = {
            "kubernetesVersion": arguments.kubernetes_version,
            "imageRepository": arguments.image_repository,
        }
    cluster = defaults.cluster(given)
    loading.complete_cluster(cluster, {"bindPort": 6443})
    listed = images.listing(cluster)
    if action == "pull":
        problems = asyncio.run(runtime.pull(loading.cri_socket(arguments.cri_socket), listed))
        for image in listed:
            if not any(image in problem for problem in problems):
                print(f"[config/images] Pulled {image}")
        if problems:
            raise KubeadmError("; ".join(problems))
        return
    value = {"apiVersion": "output.kubeadm.k8s.io/v1alpha3", "images": listed, "kind": "Images"}
    if arguments.output == "text":
        print("\n".join(listed))
    elif arguments.output == "json":
        print(json.dumps(value, indent=4))
    elif arguments.output == "yaml":
        print(printing.to_yaml(value), end="")
    else:
        raise KubeadmError(f"invalid output format: {arguments.output}")
