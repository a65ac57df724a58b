"""metrics-server as a program: its command line, and a run of it from start to stop."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from pybernetes.client.refs import NODES
from pybernetes.cmd import metrics_server
from tests.aggregated import program
from tests.cluster import TOKEN, Cluster
from tests.cmd.test_kube_scheduler import get

# As upstream's deployment has it.
USUAL = (
    "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
    "--kubelet-use-node-status-port",
    "--metric-resolution=15s",
)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--deprecated-kubelet-completely-insecure"], "--deprecated-kubelet-completely-insecure is not supported"),
        (["--metric-resolution=9s"], "metric-resolution should be a time duration at least 10s, but value 9s provided"),
        (["--metric-resolution=10s"], "metric-resolution should be larger than kubelet-request-timeout"),
        (["--kubelet-request-timeout=0s"], "kubelet-request-timeout should be positive"),
        (["--kubelet-client-key=/k"], "need both --kubelet-client-key and --kubelet-client-certificate"),
        (["--kubelet-insecure-tls", "--kubelet-certificate-authority=/ca"],
         "cannot use both --kubelet-certificate-authority and --kubelet-insecure-tls"),
        (["--kubeconfig=/nowhere"], "/nowhere"),
        (["--port=80"], "there is no port without TLS"),
        (["--kubeconfig=CONFIG", "--secure-port=0"], "--secure-port: an API server has to be reached"),
        (["--kubeconfig=CONFIG"], "the cluster does not say whom to trust"),
    ],
)  # fmt: skip
def test_what_cannot_be(
    arguments: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "kubeconfig"
    config.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\nusers: [{name: a, user: {token: t}}]\n"
        "clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"
    )
    assert metrics_server.main([argument.replace("CONFIG", str(config)) for argument in arguments]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("metrics-server: ") and complaint in printed


def test_defaults_are_upstreams() -> None:
    options = metrics_server.parser().parse_args([])
    assert (options.secure_port, options.metric_resolution, options.kubelet_request_timeout) == (443, 60, 10)
    assert (options.kubelet_port, options.kubelet_use_node_status_port) == (10250, False)
    assert options.kubelet_preferred_address_types[0] == "Hostname"


async def test_from_start_to_stop(tmp_path: Path) -> None:
    async with (
        Cluster() as cluster,
        program("metrics-server", cluster, tmp_path / "log", *USUAL) as port,
    ):
        await cluster.client.create(NODES, {"metadata": {"name": "silent"}})

        async def page(path: str, token: str = TOKEN) -> tuple[int, str]:
            return await asyncio.to_thread(get, port, path, token)

        code, text = await page("/readyz?verbose", token="")
        assert code == 200 and "[+]metric-storage-ready ok" in text and "[+]metric-informer-sync ok" in text
        code, text = await page("/apis/metrics.k8s.io/v1beta1")
        assert code == 200
        assert {entry["name"] for entry in json.loads(text)["resources"]} == {"nodes", "pods"}
        assert (await page("/apis/metrics.k8s.io/v1beta1/nodes", token="wrong"))[0] == 401
        code, text = await page("/apis/metrics.k8s.io/v1beta1/nodes")
        assert code == 200 and json.loads(text)["items"] == []  # a node without an address is not asked
        code, text = await page("/metrics")
        assert code == 200 and 'metrics_server_kubelet_request_total{success="false"}' in text
