"""Kubelets of hollow nodes at ports: metrics-server and kubectl logs reach them as they reach real ones."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pybernetes.client.refs import NODES, PODS
from pybernetes.cmd import hollow_node
from pybernetes.control_plane.metrics_server.decode import decode
from pybernetes.control_plane.metrics_server.kubelet_client import KubeletAccess, KubeletClient, ScrapeFailed
from pybernetes.lib.http.client import HttpClient, Peer
from pybernetes.lib.tls import tls
from pybernetes.lib.tls.serving_certificates import CABundle, KeyPair
from pybernetes.tools.local.hollow import hollow_kubelet
from pybernetes.tools.local.hollow.hollow_ports import HollowPorts
from pybernetes.tools.local.hollow.usage import HollowUsage
from tests.cluster import TOKEN, Cluster
from tests.support import eventually


async def test_what_is_asked_at_the_port_of_a_node(tmp_path: Path) -> None:
    certificate, key, _ = tls.ensure_serving(tmp_path, ["127.0.0.1"])
    pair = tls.Pair((tmp_path / "ca.crt").read_bytes(), (tmp_path / "ca.key").read_bytes())
    for name, user, groups in (("admin", "admin", ["system:masters"]), ("nobody", "nobody", [])):
        issued = tls.issue(pair, user, organizations=groups, client=True)
        (tmp_path / f"{name}.crt").write_bytes(issued.certificate)
        (tmp_path / f"{name}.key").write_bytes(issued.key)
    async with Cluster("--authorization-mode=RBAC") as cluster:
        usage, names = HollowUsage(), ["hollow-0", "hollow-1"]
        ports = HollowPorts(
            cluster.client, usage, names, KeyPair(certificate, key), CABundle(tmp_path / "ca.crt")
        )
        await ports.start("127.0.0.1", 0)
        running = asyncio.create_task(
            hollow_kubelet.run(cluster.client, names, version="v1.37.0", usage=usage, place=ports.place)
        )
        try:
            spec = {"nodeName": "hollow-1", "containers": [{"name": "main", "image": "web"}]}
            await cluster.client.create(PODS, {"metadata": {"name": "web"}, "spec": spec}, "default")

            async def runs() -> bool:
                pod = await cluster.client.get(PODS, "web", "default")
                return (pod.get("status") or {}).get("phase") == "Running"

            await eventually(runs)
            node = await cluster.client.get(NODES, "hollow-1")
            assert node["status"]["addresses"][0]["address"] == "127.0.0.1"
            contexts = {
                name: tls.client_context(tmp_path / "ca.crt", certificate=tmp_path / f"{name}.crt", key=tmp_path / f"{name}.key")
                for name in ("admin", "nobody")
            }  # fmt: skip
            kubelets = {
                name: KubeletClient(KubeletAccess(lambda context=context: context, use_node_status_port=True,  # type: ignore[misc]
                                                  address_types=("InternalIP",)))
                for name, context in contexts.items()
            }  # fmt: skip
            points = decode(await kubelets["admin"].fetch(node), usage.now())
            assert points.node is not None and list(points.pods) == ["default/web"]
            with pytest.raises(ScrapeFailed, match="403"):
                await kubelets["nobody"].fetch(node)
            client = HttpClient()
            for number, expected in ((1, 200), (0, 404)):  # it is on the second node
                peer = Peer(*ports.place(number), contexts["admin"])
                reply = await client.send(peer, "GET", "/containerLogs/default/web/main", b"", {}, 10)
                assert reply.status == expected
            stranger = Peer(*ports.place(1), tls.client_context(tmp_path / "ca.crt"))
            assert (await client.send(stranger, "GET", "/pods", b"", {}, 10)).status == 401
            token = {"Authorization": f"Bearer {TOKEN}"}
            assert (await client.send(stranger, "GET", "/metrics/resource", b"", token, 10)).status == 200
            client.close()
            for kubelet in kubelets.values():
                kubelet.close()
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await ports.stop()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--address=127.0.0.1"], "--address needs --tls-cert-file"),
        (["--client-ca-file=/ca"], "need --address"),
        (["--address=127.0.0.1", "--tls-cert-file=a", "--tls-private-key-file=b", "--client-ca-file=c", "--port=65535", "--nodes=2"],
         "2 nodes have no ports from 65535 on"),
    ],
)  # fmt: skip
def test_flags_that_do_not_fit(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hollow_node.main(arguments) == 1
    assert complaint in capsys.readouterr().err
