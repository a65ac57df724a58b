"""Static pods of a control plane, as the kubelet reads them from the manifests folder."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.api.text import durations
from pybernetes.lib.tls.tls import write_atomically
from pybernetes.tools.image import names as images
from pybernetes.tools.kubeadm import arguments
from pybernetes.tools.kubeadm.configuration import networks
from pybernetes.tools.kubeadm.configuration.printing import to_yaml
from pybernetes.tools.kubeadm.locations import CONTROLLER_MANAGER_PORT, KUBERNETES, NAMESPACE, SCHEDULER_PORT

COMPONENTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
PROBE_PORT = "probe-port"
_TRUSTED = "/etc/ssl/certs"
_MORE_TRUSTED = (
    "/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/ca-certificates", "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
)  # fmt: skip


def volume(
    name: str, path: str, sort: str, mount: str = "", *, read_only: bool = True
) -> tuple[Object, Object]:
    """Return a volume of the host and its mount."""
    mounted: Object = {"name": name, "mountPath": mount or path}
    if read_only:
        mounted["readOnly"] = True
    source = {"path": path, "type": sort} if sort else {"path": path}
    return {"name": name, "hostPath": source}, mounted


def probe(host: str, path: str, scheme: str, *, delay: int, failures: int, period: int) -> Object:
    """Return a probe of a component."""
    result = {
        "httpGet": {"host": host, "path": path, "port": PROBE_PORT, "scheme": scheme},
        "timeoutSeconds": 15,
        "failureThreshold": failures,
        "periodSeconds": period,
    }
    return {**result, "initialDelaySeconds": delay} if delay else result


def probes(host: str, live: str, ready: str, start: str, scheme: str, timeout: str) -> Object:
    """Return the probes of a component; it may take ``timeout`` to start."""
    failures = max(1, math.ceil(durations.parse_duration(timeout) / 10))
    result = {
        "livenessProbe": probe(host, live, scheme, delay=10, failures=8, period=10),
        "startupProbe": probe(host, start, scheme, delay=10, failures=failures, period=10),
    }
    if ready:
        result["readinessProbe"] = probe(host, ready, scheme, delay=0, failures=3, period=1)
    return result


def pod(container: Object, volumes: Iterable[Object], annotations: dict[str, str] | None = None) -> Object:
    """Return the static pod of a component."""
    metadata: Object = {
        "name": container["name"],
        "namespace": NAMESPACE,
        "labels": {"component": container["name"], "tier": "control-plane"},
    }
    if annotations:
        metadata["annotations"] = annotations
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "containers": [container],
            "hostNetwork": True,
            "priority": 2000001000,
            "priorityClassName": "system-node-critical",
            "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
            "volumes": sorted(volumes, key=lambda entry: entry["name"]),
        },
        "status": {},
    }


def write(folder: Path, component: str, manifest: Object) -> Path:
    """Write the manifest of a component, which only the kubelet reads."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{component}.yaml"
    write_atomically(path, to_yaml(manifest).encode(), 0o600)
    return path


def control_plane(cluster: Object, endpoint: Object, timeout: str) -> dict[str, Object]:
    """Return the pods of the API server, the controller manager and the scheduler."""
    return {
        "kube-apiserver": _api_server(cluster, endpoint, timeout),
        "kube-controller-manager": _controller_manager(cluster, timeout),
        "kube-scheduler": _scheduler(cluster, timeout),
    }


def _component(
    cluster: Object, name: str, field: str, command: list[str], cpu: str, port: int, checks: Object,
    volumes: list[tuple[Object, Object]], annotations: dict[str, str] | None = None,
) -> Object:  # fmt: skip
    for extra in cluster[field].get("extraVolumes") or ():
        volumes.append(
            volume(
                extra["name"],
                extra["hostPath"],
                extra.get("pathType", ""),
                extra["mountPath"],
                read_only=bool(extra.get("readOnly")),
            )
        )
    container: Object = {
        "name": name,
        "image": images.component(name, cluster["kubernetesVersion"], cluster["imageRepository"]),
        "imagePullPolicy": "IfNotPresent",
        "command": [name, *command],
        "resources": {"requests": {"cpu": cpu}},
        "ports": [{"name": PROBE_PORT, "containerPort": port, "protocol": "TCP"}],
        "volumeMounts": sorted((mount for _, mount in volumes), key=lambda mount: mount["name"]),
        **checks,
    }
    if cluster[field].get("extraEnvs"):
        container["env"] = cluster[field]["extraEnvs"]
    return pod(container, (entry for entry, _ in volumes), annotations)


def _trusted() -> list[tuple[Object, Object]]:
    """Return the volumes with the authorities that the machine trusts."""
    more = [path for path in _MORE_TRUSTED if Path(path).exists()]
    result = [volume("ca-certs", _TRUSTED, "DirectoryOrCreate")]
    return result + [volume(path.replace("/", "-")[1:], path, "DirectoryOrCreate") for path in more]


def _loopback(address: str) -> str:
    return "::1" if ":" in address else "127.0.0.1"


def _api_server(cluster: Object, endpoint: Object, timeout: str) -> Object:
    certificates, networking = cluster["certificatesDir"], cluster["networking"]
    address, port = endpoint["advertiseAddress"], endpoint["bindPort"]
    flags = {
        "advertise-address": address,
        "enable-admission-plugins": "NodeRestriction",
        "service-cluster-ip-range": networking["serviceSubnet"],
        "service-account-key-file": f"{certificates}/sa.pub",
        "service-account-signing-key-file": f"{certificates}/sa.key",
        "service-account-issuer": f"https://kubernetes.default.svc.{networking['dnsDomain']}",
        "client-ca-file": f"{certificates}/ca.crt",
        "tls-cert-file": f"{certificates}/apiserver.crt",
        "tls-private-key-file": f"{certificates}/apiserver.key",
        "kubelet-client-certificate": f"{certificates}/apiserver-kubelet-client.crt",
        "kubelet-client-key": f"{certificates}/apiserver-kubelet-client.key",
        "enable-bootstrap-token-auth": "true",
        "secure-port": str(port),
        "allow-privileged": "true",
        "kubelet-preferred-address-types": "InternalIP,ExternalIP,Hostname",
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "requestheader-client-ca-file": f"{certificates}/front-proxy-ca.crt",
        "requestheader-allowed-names": "front-proxy-client",
        "proxy-client-cert-file": f"{certificates}/front-proxy-client.crt",
        "proxy-client-key-file": f"{certificates}/front-proxy-client.key",
        **_etcd_flags(cluster, address),
    }
    extra = arguments.given(cluster["apiServer"].get("extraArgs"))
    if not any(name == "authorization-config" for name, _ in extra):
        flags["authorization-mode"] = "Node,RBAC"
    volumes = [volume("k8s-certs", certificates, "DirectoryOrCreate"), *_trusted()]
    external = cluster["etcd"].get("external")
    if external:
        folders = sorted(
            {
                str(Path(external[name]).parent)
                for name in ("caFile", "certFile", "keyFile")
                if external.get(name)
            }
        )
        known = (certificates, _TRUSTED, *_MORE_TRUSTED)
        own = [folder for folder in folders if not folder.startswith(known)]
        volumes += [
            volume(f"etcd-certs-{index}", folder, "DirectoryOrCreate") for index, folder in enumerate(own)
        ]
    host = _loopback(address) if address in ("0.0.0.0", "::") else address
    return _component(
        cluster, "kube-apiserver", "apiServer", arguments.command(flags, extra), "250m", port,
        probes(host, "/livez", "/readyz", "/livez", "HTTPS", timeout), volumes,
        {"kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint": networks.joined(address, port)},
    )  # fmt: skip


def _etcd_flags(cluster: Object, address: str) -> dict[str, str]:
    certificates, external = cluster["certificatesDir"], cluster["etcd"].get("external")
    if external:
        flags = {"etcd-servers": ",".join(external["endpoints"])}
        for flag, field in (
            ("etcd-cafile", "caFile"),
            ("etcd-certfile", "certFile"),
            ("etcd-keyfile", "keyFile"),
        ):
            if external.get(field):
                flags[flag] = external[field]
        return flags
    return {
        "etcd-servers": f"https://{networks.joined(_loopback(address), 2379)}",
        "etcd-cafile": f"{certificates}/etcd/ca.crt",
        "etcd-certfile": f"{certificates}/apiserver-etcd-client.crt",
        "etcd-keyfile": f"{certificates}/apiserver-etcd-client.key",
    }


def _probe_host(cluster: Object, field: str) -> str:
    address = arguments.value(cluster[field].get("extraArgs"), "bind-address") or "127.0.0.1"
    return _loopback(address) if address in ("0.0.0.0", "::") else address


def _client_flags(kubeconfig: str) -> dict[str, str]:
    """Return the flags of a component that takes turns with others of its kind."""
    return {
        "bind-address": "127.0.0.1",
        "leader-elect": "true",
        "kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
    }


def _controller_manager(cluster: Object, timeout: str) -> Object:
    certificates, networking = cluster["certificatesDir"], cluster["networking"]
    kubeconfig = f"{KUBERNETES}/controller-manager.conf"
    has_key = Path(certificates, "ca.key").exists() or not Path(certificates, "ca.crt").exists()
    flags = {
        **_client_flags(kubeconfig),
        "client-ca-file": f"{certificates}/ca.crt",
        "requestheader-client-ca-file": f"{certificates}/front-proxy-ca.crt",
        "root-ca-file": f"{certificates}/ca.crt",
        "service-account-private-key-file": f"{certificates}/sa.key",
        # An authority whose key is elsewhere signs nothing here.
        "cluster-signing-cert-file": f"{certificates}/ca.crt" if has_key else "",
        "cluster-signing-key-file": f"{certificates}/ca.key" if has_key else "",
        "use-service-account-credentials": "true",
        "controllers": "*,bootstrapsigner,tokencleaner",
        "cluster-name": cluster["clusterName"],
    }
    if networking.get("podSubnet"):
        flags |= {
            "allocate-node-cidrs": "true",
            "cluster-cidr": networking["podSubnet"],
            "service-cluster-ip-range": networking["serviceSubnet"],
        }
    volumes = [
        volume("k8s-certs", certificates, "DirectoryOrCreate"),
        volume("kubeconfig", kubeconfig, "FileOrCreate"),
        *_trusted(),
    ]
    host = _probe_host(cluster, "controllerManager")
    return _component(
        cluster, "kube-controller-manager", "controllerManager",
        arguments.command(flags, arguments.given(cluster["controllerManager"].get("extraArgs"))), "200m",
        CONTROLLER_MANAGER_PORT, probes(host, "/healthz", "", "/healthz", "HTTPS", timeout), volumes,
    )  # fmt: skip


def _scheduler(cluster: Object, timeout: str) -> Object:
    kubeconfig = f"{KUBERNETES}/scheduler.conf"
    flags = _client_flags(kubeconfig)
    host = _probe_host(cluster, "scheduler")
    return _component(
        cluster, "kube-scheduler", "scheduler",
        arguments.command(flags, arguments.given(cluster["scheduler"].get("extraArgs"))), "100m", SCHEDULER_PORT,
        probes(host, "/livez", "/readyz", "/livez", "HTTPS", timeout),
        [volume("kubeconfig", kubeconfig, "FileOrCreate")],
    )  # fmt: skip
