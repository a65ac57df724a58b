"""What a configuration says where its author said nothing: the same on every machine."""

from __future__ import annotations

from urllib.parse import urlsplit

from pybernetes.api.resource import Object
from pybernetes.tools.kubeadm.configuration.kinds import API_VERSION
from pybernetes.tools.kubeadm.locations import API_SERVER_PORT, BOOTSTRAPPERS

CERTIFICATES = "/etc/kubernetes/pki"
TIMEOUTS = {
    "controlPlaneComponentHealthCheck": "4m0s",
    "discovery": "5m0s",
    "etcdAPICall": "2m0s",
    "kubeletHealthCheck": "4m0s",
    "kubernetesAPICall": "1m0s",
    "tlsBootstrap": "5m0s",
    "upgradeManifests": "5m0s",
}


def _typed(kind: str, given: Object) -> Object:
    return {**given, "apiVersion": API_VERSION, "kind": kind}


def _timeouts(given: Object) -> Object:
    return {**TIMEOUTS, **(given.get("timeouts") or {})}


def _registration(given: Object) -> Object:
    return {
        "imagePullPolicy": "IfNotPresent",
        "imagePullSerial": True,
        **(given.get("nodeRegistration") or {}),
    }


def _endpoint(given: Object | None) -> Object:
    return {**(given or {}), "bindPort": (given or {}).get("bindPort") or API_SERVER_PORT}


def token(given: Object) -> Object:
    """Return a bootstrap token with its defaults."""
    result = {"usages": ["signing", "authentication"], **given}
    if not result.get("expires") and "ttl" not in result:
        result["ttl"] = "24h0m0s"
    if "authentication" in result["usages"] and not result.get("groups"):
        result["groups"] = [BOOTSTRAPPERS]
    return result


def init(given: Object) -> Object:
    """Return an InitConfiguration with its defaults."""
    return _typed(
        "InitConfiguration",
        {
            **given,
            "bootstrapTokens": [token(entry) for entry in given.get("bootstrapTokens") or [{}]],
            "localAPIEndpoint": _endpoint(given.get("localAPIEndpoint")),
            "nodeRegistration": _registration(given),
            "timeouts": _timeouts(given),
        },
    )


def cluster(given: Object) -> Object:
    """Return a ClusterConfiguration with its defaults."""
    result = {
        "kubernetesVersion": "stable-1",
        "certificatesDir": CERTIFICATES,
        "imageRepository": "registry.k8s.io",
        "clusterName": "kubernetes",
        "encryptionAlgorithm": "RSA-2048",
        "certificateValidityPeriod": "8760h0m0s",
        "caCertificateValidityPeriod": "87600h0m0s",
        **{name: {} for name in ("apiServer", "controllerManager", "scheduler", "dns", "proxy")},
        **{name: value for name, value in given.items() if value != ""},
    }
    result["networking"] = {
        "serviceSubnet": "10.96.0.0/12",
        "dnsDomain": "cluster.local",
        **{name: value for name, value in (given.get("networking") or {}).items() if value},
    }
    etcd = dict(given.get("etcd") or {})
    if "local" not in etcd and "external" not in etcd:
        etcd["local"] = {}
    if "local" in etcd:
        etcd["local"] = {**etcd["local"], "dataDir": etcd["local"].get("dataDir") or "/var/lib/etcd"}
    if "external" in etcd:
        etcd["external"] = {
            "httpEndpoints": list(etcd["external"].get("endpoints") or ()),
            **etcd["external"],
        }
    result["etcd"] = etcd
    return _typed("ClusterConfiguration", result)


def join(given: Object) -> Object:
    """Return a JoinConfiguration with its defaults."""
    discovery = dict(given.get("discovery") or {})
    bootstrap = discovery.get("bootstrapToken")
    if bootstrap is not None and not discovery.get("tlsBootstrapToken"):
        discovery["tlsBootstrapToken"] = bootstrap.get("token", "")
    if discovery.get("file"):
        address = urlsplit(discovery["file"].get("kubeConfigPath") or "")
        if address.scheme == "file":
            discovery["file"] = {"kubeConfigPath": address.path}
    result = {
        **given,
        "caCertPath": given.get("caCertPath") or f"{CERTIFICATES}/ca.crt",
        "discovery": discovery,
        "nodeRegistration": _registration(given),
        "timeouts": _timeouts(given),
    }
    if given.get("controlPlane") is not None:
        endpoint = _endpoint(given["controlPlane"].get("localAPIEndpoint"))
        result["controlPlane"] = {**given["controlPlane"], "localAPIEndpoint": endpoint}
    return _typed("JoinConfiguration", result)


def reset(given: Object) -> Object:
    """Return a ResetConfiguration with its defaults."""
    return _typed(
        "ResetConfiguration",
        {
            **given,
            "certificatesDir": given.get("certificatesDir") or CERTIFICATES,
            "timeouts": _timeouts(given),
        },
    )


def upgrade(given: Object) -> Object:
    """Return an UpgradeConfiguration with its defaults."""
    pulling = {"imagePullPolicy": "IfNotPresent", "imagePullSerial": True}
    renewing = {"certificateRenewal": True, "etcdUpgrade": True}
    return _typed(
        "UpgradeConfiguration",
        {
            "apply": {**renewing, **pulling, **(given.get("apply") or {})},
            "diff": given.get("diff") or {},
            "node": {**renewing, **pulling, **(given.get("node") or {})},
            "plan": {"etcdUpgrade": True, **(given.get("plan") or {})},
            "timeouts": _timeouts(given),
        },
    )
