"""The cache of what a server has: nobody else may write it, and what somebody else wrote is not read."""

from __future__ import annotations

import marshal
import os
import socket
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.tools.kubectl.resources.discovery import Discovery, Resource, match
from tests.tools.kubectl.run_kubectl import run as kubectl

_GROUPS = {
    "kind": "APIGroupDiscoveryList",
    "items": [{"metadata": {"name": ""}, "versions": [{"version": "v1", "resources": [
        {"resource": "pods", "responseKind": {"kind": "Pod"}, "scope": "Namespaced", "verbs": ["get"], "singularResource": "pod"}]}]}],
}  # fmt: skip


def discovery(folder: Path) -> Discovery:
    def answer(path: str, accept: str = "") -> dict[str, Any]:
        return _GROUPS if path == "/api" else {"kind": "APIGroupDiscoveryList"}

    access = SimpleNamespace(host_header="server:6443", prefix="")
    return Discovery(SimpleNamespace(access=access, about_server=answer), str(folder))  # type: ignore[arg-type]


def cached(folder: Path) -> Path:
    (file,) = (folder / "pybernetes").iterdir()
    return file


def planted(folder: Path) -> None:
    """Put another content into the cache, as somebody would who can write there."""
    fields = list(discovery(folder).resources()[0])
    fields[fields.index("pods")] = "planted"
    cached(folder).write_bytes(marshal.dumps([tuple(fields)]))


def names(resources: list[Resource]) -> list[str]:
    return [resource.plural for resource in resources]


def test_the_cache_is_its_owners_alone(tmp_path: Path) -> None:
    """CVE-2019-11244: the files of kubectl's cache could be changed by everybody."""
    before = os.umask(0)
    try:
        assert names(discovery(tmp_path).resources()) == ["pods"]
    finally:
        os.umask(before)
    assert stat.S_IMODE(cached(tmp_path).stat().st_mode) == 0o640
    assert stat.S_IMODE(cached(tmp_path).parent.stat().st_mode) == 0o750
    planted(tmp_path)
    assert names(discovery(tmp_path).resources()) == ["planted"]  # it is read at all


@pytest.mark.parametrize("mode", [0o660, 0o646])
def test_a_cache_that_others_can_change_is_not_read(tmp_path: Path, mode: int) -> None:
    planted(tmp_path)
    cached(tmp_path).chmod(mode)
    assert names(discovery(tmp_path).resources()) == ["pods"]


def test_a_link_in_the_cache_is_not_followed(tmp_path: Path) -> None:
    planted(tmp_path)
    file = cached(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert names(discovery(tmp_path).resources()) == ["pods"]
    assert b"planted" in elsewhere.read_bytes() and not file.is_symlink()


@pytest.mark.parametrize(
    ("line", "attempts", "message"),
    [
        ("get pods", 5, ""),
        ("get pods,services", 6, ""),
        ("get pod/x", 4, ""),
        ("get pods.v1.example.com/x", 6, ""),
        ("cordon x", 4, ""),
        ("logs x", 4, ""),
        ("explain pods", 2, ""),
        ("run x --image=y --dry-run=client", 1, ""),
        ("get -f {file}", 1, 'unable to recognize "{file}": Get "{server}/api?timeout=32s": '),
        ("api-versions", 1, "error: couldn't get available api versions from server: Get "),
        ("apply -f {file}", 0, 'error: error validating "{file}": error validating data: failed to download openapi: Get '),
        ("create cm x", 0, 'error: failed to create configmap: Post "{server}/api/v1/namespaces/default/configmaps?'),
        ("top pods", 0, ""),
    ],
)  # fmt: skip
def test_a_server_that_does_not_listen(tmp_path: Path, line: str, attempts: int, message: str) -> None:
    """Each time that the server is asked in vain for its resources is told, as often as by the original."""
    with socket.socket() as bound:  # and nobody listens
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        file = tmp_path / "map.yaml"
        file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
        names = {"file": file, "server": f"http://{address}"}
        code, out, err = kubectl(f"--server={names['server']}", *line.format(**names).split())
    refused = f"The connection to the server {address} was refused - did you specify the right host or port?"
    *told, last = err.splitlines()
    assert (code, out, len(told)) == (1, "", attempts)
    assert all('"Couldn\'t get current server API group list" err=' in entry for entry in told)
    assert last.startswith(message.format(**names)) if message else last == refused
    assert not message or last.split("; if")[0].endswith(f"dial tcp {address}: connect: connection refused")


_SCALERS = (
    "horizontalpodautoscalers",
    "horizontalpodautoscaler",
    "HorizontalPodAutoscaler",
    True,
    (),
    ("hpa",),
)
_KNOWN = [
    Resource("", "v1", "pods", "pod", "Pod", True, (), ("po",)),
    Resource("", "v1", "events", "event", "Event", True, (), ("ev",)),
    Resource("apps", "v1", "deployments", "deployment", "Deployment", True, (), ("deploy",)),
    Resource("autoscaling", "v2", *_SCALERS),
    Resource("autoscaling", "v1", *_SCALERS, (), (), False),
    Resource("events.k8s.io", "v1", "events", "event", "Event", True, (), ("ev",)),
    Resource("metrics.k8s.io", "v1beta1", "pods", "pod", "PodMetrics", True),
]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("pods", "v1 pods"), ("PODS", "v1 pods"), ("Pod", "v1 pods"), ("po", "v1 pods"), ("Po", ""),
        ("pods.v1", ""), ("pods.v1.", "v1 pods"), ("po.v1.", "v1 pods"), ("Pods.V1.", ""),
        ("pods.v1beta1.", "metrics.k8s.io/v1beta1 pods"), ("pods.metrics", "metrics.k8s.io/v1beta1 pods"),
        ("PodMetrics", "metrics.k8s.io/v1beta1 pods"), ("podmetrics", ""), ("podmetrics.metrics.k8s.io", "metrics.k8s.io/v1beta1 pods"),
        ("deploy.app", "apps/v1 deployments"), ("deploy.v1.apps", "apps/v1 deployments"),
        ("deployments.v1beta1.apps", ""), ("deploy.v1beta1.apps", "apps/v1 deployments"), ("deployments.APPS", ""),
        ("horizontalpodautoscalers.v1.autoscaling", "autoscaling/v1 horizontalpodautoscalers"),
        ("HorizontalPodAutoscaler.v1.autoscaling", "autoscaling/v1 horizontalpodautoscalers"),
        ("hpa.v1.autoscaling", "autoscaling/v2 horizontalpodautoscalers"),
        ("hpa", "autoscaling/v2 horizontalpodautoscalers"),
        ("ev.events.k8s.io", "events.k8s.io/v1 events"), ("events.v1.events.k8s.io", "events.k8s.io/v1 events"),
    ],
)  # fmt: skip
def test_which_resource_a_word_means(word: str, meant: str) -> None:
    """A version counts for a resource's name and kind, but not for its short name: so it does in the original."""
    resource = match(_KNOWN, word)
    assert (f"{resource.api_version} {resource.plural}" if resource else "") == meant
