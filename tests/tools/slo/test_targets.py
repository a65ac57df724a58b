"""Where metrics are, by what the API server lists."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.slo.targets import Target, of_pods, through_the_apiserver


def test_through_the_apiserver() -> None:
    services = [
        {"metadata": {"namespace": "kube-system", "name": name}, "spec": {"ports": [{"name": port, "port": 1}]}}
        for name, port in (("kube-dns", "metrics"), ("other", "web"))
    ]  # fmt: skip
    targets = through_the_apiserver(["one"], services)
    assert [(target.name, target.path) for target in targets] == [
        ("kube-apiserver", "/metrics"),
        ("kube-apiserver", "/metrics/slis"),
        *(("kubelet/one", f"/api/v1/nodes/one/proxy/metrics{page}") for page in ("", "/cadvisor", "/probes", "/resource", "/slis")),
        ("kube-dns", "/api/v1/namespaces/kube-system/services/kube-dns:metrics/proxy/metrics"),
    ]  # fmt: skip


def test_components_in_pods() -> None:
    pods: list[dict[str, Any]] = [
        {"metadata": {"labels": {"component": "kube-scheduler"}}, "status": {"podIP": "10.0.0.1"}},
        {"metadata": {"labels": {"component": "kube-controller-manager"}}, "status": {"podIP": "fd00::1"}},
        {"metadata": {"labels": {"component": "kube-scheduler"}}, "status": {}},
        {"metadata": {"labels": {"component": "store"}}, "status": {"podIP": "10.0.0.1"}},
        {"metadata": {}},
    ]
    targets = of_pods(pods)
    assert Target("kube-scheduler", "/metrics/resources", "https://10.0.0.1:10259") in targets
    assert {target.server for target in targets} == {"https://10.0.0.1:10259", "https://[fd00::1]:10257"}
