"""The fields of the kinds of kubeadm.k8s.io/v1beta4."""

from __future__ import annotations

from typing import Any

from pybernetes.api.strict_types import (
    BOOL,
    DURATION,
    INT,
    INT32,
    RAW,
    STRING,
    STRINGS,
    ByName,
    Many,
    Problem,
    Struct,
    Value,
)
from pybernetes.api.text import durations
from pybernetes.tools.kubeadm.tokens import TOKEN as TOKEN_FORM

GROUP = "kubeadm.k8s.io"
API_VERSION = f"{GROUP}/v1beta4"
EXPERIMENTAL = f"{GROUP}/v1"


class _Kept(Value):
    """A duration that is checked and kept as Go writes it."""

    def read(self, value: object, path: str, unknown: list[str], root: str) -> object:
        return durations.show_duration(DURATION.read(value, path, unknown, root))


class _Token(Value):
    """The text of a bootstrap token."""

    def read(self, value: object, path: str, unknown: list[str], root: str) -> object:
        text = super().read(value, path, unknown, root)
        if text and not TOKEN_FORM.fullmatch(text):
            form = r"\\A([a-z0-9]{6})\\.([a-z0-9]{16})\\z"
            raise Problem(f'the bootstrap token "{text}" was not of the form "{form}"')
        return text


def _struct(name: str, /, **fields: object) -> Struct:
    return Struct(f"v1beta4.{name}", fields)


KEPT_DURATION = _Kept("string", (str,))
ARG = _struct("Arg", name=STRING, value=STRING)
ARGS = Many(ARG)
ENVS = Many(Struct("v1beta4.EnvVar", {"name": STRING, "value": STRING, "valueFrom": RAW}))
VOLUMES = Many(
    _struct("HostPathMount", name=STRING, hostPath=STRING, mountPath=STRING, readOnly=BOOL, pathType=STRING)
)
_COMPONENT = {"extraArgs": ARGS, "extraVolumes": VOLUMES, "extraEnvs": ENVS}
_IMAGE = {"imageRepository": STRING, "imageTag": STRING}
ENDPOINT = _struct("APIEndpoint", advertiseAddress=STRING, bindPort=INT32)
PATCHES = _struct("Patches", directory=STRING)
TIMEOUT_FIELDS = (
    "controlPlaneComponentHealthCheck", "discovery", "etcdAPICall", "kubeletHealthCheck", "kubernetesAPICall", "tlsBootstrap",
    "upgradeManifests",
)  # fmt: skip
TIMEOUTS = Struct("v1beta4.Timeouts", dict.fromkeys(TIMEOUT_FIELDS, KEPT_DURATION))
REGISTRATION = _struct(
    "NodeRegistrationOptions",
    name=STRING,
    criSocket=STRING,
    taints=Many(Struct("v1.Taint", {"key": STRING, "value": STRING, "effect": STRING, "timeAdded": STRING})),
    kubeletExtraArgs=ARGS,
    ignorePreflightErrors=STRINGS,
    imagePullPolicy=STRING,
    imagePullSerial=BOOL,
)
TOKEN = Struct(
    "v1.BootstrapToken",
    {"token": _Token("string", (str,)), "description": STRING, "ttl": KEPT_DURATION, "expires": STRING, "usages": STRINGS,
     "groups": STRINGS},
)  # fmt: skip
_META: dict[str, object] = {"apiVersion": STRING, "kind": STRING}
_UPGRADE_COMMON = {
    "kubernetesVersion": STRING, "allowExperimentalUpgrades": BOOL, "allowRCUpgrades": BOOL, "dryRun": BOOL,
    "etcdUpgrade": BOOL, "ignorePreflightErrors": STRINGS, "printConfig": BOOL,
}  # fmt: skip
_UPGRADE_NODE = {
    "certificateRenewal": BOOL, "patches": PATCHES, "skipPhases": STRINGS, "imagePullPolicy": STRING,
    "imagePullSerial": BOOL,
}  # fmt: skip

INIT = _struct(
    "InitConfiguration",
    **_META,
    bootstrapTokens=Many(TOKEN),
    dryRun=BOOL,
    nodeRegistration=REGISTRATION,
    localAPIEndpoint=ENDPOINT,
    certificateKey=STRING,
    skipPhases=STRINGS,
    patches=PATCHES,
    timeouts=TIMEOUTS,
)
CLUSTER = _struct(
    "ClusterConfiguration",
    **_META,
    etcd=_struct(
        "Etcd",
        local=Struct(
            "v1beta4.LocalEtcd",
            {**_IMAGE, "dataDir": STRING, "extraArgs": ARGS, "extraEnvs": ENVS, "serverCertSANs": STRINGS,
             "peerCertSANs": STRINGS},
        ),
        external=_struct(
            "ExternalEtcd", endpoints=STRINGS, httpEndpoints=STRINGS, caFile=STRING, certFile=STRING, keyFile=STRING
        ),
    ),
    networking=_struct("Networking", serviceSubnet=STRING, podSubnet=STRING, dnsDomain=STRING),
    kubernetesVersion=STRING,
    controlPlaneEndpoint=STRING,
    apiServer=Struct("v1beta4.APIServer", {**_COMPONENT, "certSANs": STRINGS}),
    controllerManager=Struct("v1beta4.ControlPlaneComponent", _COMPONENT),
    scheduler=Struct("v1beta4.ControlPlaneComponent", _COMPONENT),
    dns=Struct("v1beta4.DNS", {**_IMAGE, "disabled": BOOL}),
    proxy=_struct("Proxy", disabled=BOOL),
    certificatesDir=STRING,
    imageRepository=STRING,
    featureGates=ByName(BOOL, "map[string]bool"),
    clusterName=STRING,
    encryptionAlgorithm=STRING,
    certificateValidityPeriod=KEPT_DURATION,
    caCertificateValidityPeriod=KEPT_DURATION,
)  # fmt: skip
JOIN = _struct(
    "JoinConfiguration",
    **_META,
    dryRun=BOOL,
    nodeRegistration=REGISTRATION,
    caCertPath=STRING,
    discovery=_struct(
        "Discovery",
        bootstrapToken=_struct(
            "BootstrapTokenDiscovery",
            token=STRING,
            apiServerEndpoint=STRING,
            caCertHashes=STRINGS,
            unsafeSkipCAVerification=BOOL,
        ),
        file=_struct("FileDiscovery", kubeConfigPath=STRING),
        tlsBootstrapToken=STRING,
    ),
    controlPlane=_struct("JoinControlPlane", localAPIEndpoint=ENDPOINT, certificateKey=STRING),
    skipPhases=STRINGS,
    patches=PATCHES,
    timeouts=TIMEOUTS,
)
RESET = _struct(
    "ResetConfiguration",
    **_META,
    cleanupTmpDir=BOOL,
    certificatesDir=STRING,
    criSocket=STRING,
    dryRun=BOOL,
    force=BOOL,
    ignorePreflightErrors=STRINGS,
    skipPhases=STRINGS,
    unmountFlags=STRINGS,
    timeouts=TIMEOUTS,
)
UPGRADE = _struct(
    "UpgradeConfiguration",
    **_META,
    apply=Struct(
        "v1beta4.UpgradeApplyConfiguration", {**_UPGRADE_COMMON, **_UPGRADE_NODE, "forceUpgrade": BOOL}
    ),
    diff=_struct("UpgradeDiffConfiguration", kubernetesVersion=STRING, contextLines=INT),
    node=Struct(
        "v1beta4.UpgradeNodeConfiguration",
        {**_UPGRADE_NODE, "dryRun": BOOL, "etcdUpgrade": BOOL, "ignorePreflightErrors": STRINGS},
    ),
    plan=Struct("v1beta4.UpgradePlanConfiguration", _UPGRADE_COMMON),
    timeouts=TIMEOUTS,
)

KINDS = {
    "InitConfiguration": INIT,
    "ClusterConfiguration": CLUSTER,
    "JoinConfiguration": JOIN,
    "ResetConfiguration": RESET,
    "UpgradeConfiguration": UPGRADE,
}


def _next(item: Any) -> Any:
    """Return a type as the version after this one has it: arguments say how they are merged."""
    if item is ARG:
        return Struct("v1.Arg", {**ARG.fields, "mergeMethod": STRING})
    if isinstance(item, Many):
        return Many(_next(item.item))
    if isinstance(item, Struct):
        fields = {name: _next(entry) for name, entry in item.fields.items()}
        return Struct(item.name.replace("v1beta4.", "v1."), fields)
    return item


EXPERIMENTAL_KINDS: dict[str, Struct] = {kind: _next(struct) for kind, struct in KINDS.items()}
