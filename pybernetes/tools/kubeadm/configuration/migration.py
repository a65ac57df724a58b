"""Documents of v1beta3, the last version before this one, as v1beta4."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.tools.kubeadm.configuration.kinds import API_VERSION, GROUP
from pybernetes.tools.kubeadm.errors import KubeadmError

OLD = f"{GROUP}/v1beta3"


def migrated(value: Object) -> Object:
    """Return a document of v1beta3 as v1beta4; others as they are."""
    if value.get("apiVersion") != OLD:
        return value
    change = _CHANGES.get(value["kind"])
    if change is None:
        raise KubeadmError(f'there is no kind "{value["kind"]}" in {OLD}')
    return change({**value, "apiVersion": API_VERSION})


def _arguments(holder: Object, name: str) -> Object:
    """Turn the map of arguments into the list that it has become."""
    if isinstance(holder.get(name), dict):
        listed = [{"name": key, "value": text} for key, text in sorted(holder[name].items())]
        return {**holder, name: listed}
    return holder


def _registration(value: Object) -> Object:
    if "nodeRegistration" in value:
        value["nodeRegistration"] = _arguments(value["nodeRegistration"], "kubeletExtraArgs")
    return value


def _init(value: Object) -> Object:
    return _registration(value)


def _join(value: Object) -> Object:
    discovery = dict(value.get("discovery") or {})
    if "timeout" in discovery:
        value["timeouts"] = {"discovery": discovery.pop("timeout")}
        value["discovery"] = discovery
    return _registration(value)


def _cluster(value: Object) -> Object:
    for component in ("apiServer", "controllerManager", "scheduler"):
        if component in value:
            value[component] = _arguments(value[component], "extraArgs")
    server = dict(value.get("apiServer") or {})
    # It has become a setting of init and join.
    if server.pop("timeoutForControlPlane", None) is not None:
        value["apiServer"] = server
    etcd = value.get("etcd") or {}
    if "local" in etcd:
        value["etcd"] = {**etcd, "local": _arguments(etcd["local"], "extraArgs")}
    return value


_CHANGES: dict[str, Callable[[Object], Object]] = {
    "InitConfiguration": _init,
    "JoinConfiguration": _join,
    "ClusterConfiguration": _cluster,
}
