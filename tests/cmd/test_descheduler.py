"""descheduler as a program: its command line, a single run, and one at an interval with a lease."""

from __future__ import annotations

import asyncio
import signal
import ssl
import sys
from pathlib import Path

import pytest

from pybernetes import KUBERNETES_VERSION
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import LEASES, NODES, PODS
from pybernetes.cmd import descheduler
from tests.cluster import TOKEN, Cluster
from tests.cmd.test_kube_scheduler import a_free_port, get
from tests.control_plane.scheduler.helpers import add_node
from tests.scheduling.builders import node, pod
from tests.support import eventually

POLICY = """
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
gracePeriodSeconds: 0
profiles:
- name: tainted
  pluginConfig:
  - name: RemovePodsViolatingNodeTaints
    args: {excludedTaints: [ignored]}
  plugins:
    deschedule:
      enabled: [RemovePodsViolatingNodeTaints]
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return path


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "deschedulerPolicy is nil"),
        (["--policy-config-file=/nowhere"], 'failed to read policy config file "/nowhere"'),
        (["--policy-config-file=POLICY", "--kubeconfig=/nowhere"], "/nowhere"),
        (
            ["--policy-config-file=POLICY", "--leader-elect"],
            "leaderElection must be used with deschedulingInterval",
        ),
        (["--feature-gates=EvictionsInBackground"], "missing bool value for EvictionsInBackground"),
        (["--feature-gates=EvictionsInBackground=maybe"], 'invalid boolean value "maybe"'),
        (["--policy-config-file=POLICY", "--feature-gates=Magic=true"], "unrecognized feature gate: Magic"),
        (["--policy-config-file=POLICY", "--port=10"], "there is no port without TLS"),
        (["--policy-config-file=POLICY", "--otel-collector-endpoint=a:1"], "traces are not supported"),
        (["--policy-config-file=POLICY", "--otel-sample-rate=0.5"], "traces are not supported"),
        (["--policy-config-file=POLICY", "--enable-http2"], "HTTP/2 is not supported"),
        (["--policy-config-file=POLICY", "--logging-format=json"], "json is not supported, only text is"),
        (["--policy-config-file=POLICY", "--tls-min-version=1.2"], 'unknown tls version "1.2"'),
        (["--policy-config-file=POLICY", "--tls-cipher-suites=ROT13"], "Cipher suite ROT13 not supported"),
        (
            ["--leader-elect", "--descheduling-interval=1m", "--leader-elect-resource-lock=endpoints"],
            'resourceLock value must be "leases"',
        ),
    ],
)
def test_what_cannot_be(
    arguments: list[str], complaint: str, policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert descheduler.main([argument.replace("POLICY", str(policy)) for argument in arguments]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("descheduler: ") and complaint in printed


def test_flags_that_mean_nothing_here_are_told(policy: Path, caplog: pytest.LogCaptureFixture) -> None:
    options = descheduler.parser().parse_args([f"--policy-config-file={policy}", "--vmodule=a=1"])
    descheduler.policy(options)
    assert caplog.messages == [
        "the flag --vmodule changes nothing here: the log is plain text on stderr, line by line"
    ]


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert descheduler.main(["version"]) == 0
    assert capsys.readouterr().out == f"Descheduler version {KUBERNETES_VERSION}\n"


def test_defaults() -> None:
    options = descheduler.parser().parse_args([])
    assert (options.leader_elect, options.leader_elect_lease_duration, options.secure_port) == (
        False,
        137,
        10258,
    )
    assert (options.leader_elect_renew_deadline, options.leader_elect_retry_period) == (107, 26)
    assert (options.leader_elect_resource_name, options.descheduling_interval) == ("descheduler", 0)


async def prepare(client: Client) -> None:
    """Make two nodes, one of them tainted after a pod has come to it."""
    for name in ("a", "b"):
        await add_node(client, node(name))
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}
    unwelcome = pod("unwelcome", nodeName="a")
    unwelcome["metadata"]["ownerReferences"] = [owner]
    await client.create(PODS, unwelcome)
    await client.patch(NODES, "a", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})


async def is_gone(client: Client) -> bool:
    try:
        await client.get(PODS, "unwelcome", "default")
    except NotFound:
        return True
    return False


async def start(log: Path, cluster: Cluster, policy: Path, *more: str) -> asyncio.subprocess.Process:
    arguments = [
        f"--policy-config-file={policy}",
        f"--kubeconfig={cluster.kubeconfig()}",
        "--bind-address=127.0.0.1",
    ]
    with log.open("w") as file:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "pybernetes.cmd.main",
            "descheduler",
            *arguments,
            *more,
            stdout=file,
            stderr=file,
        )


async def test_once(tmp_path: Path, policy: Path) -> None:
    async with Cluster() as cluster:
        await prepare(cluster.client)
        log = tmp_path / "log"
        rehearsal = await start(log, cluster, policy, "--secure-port=0", "--dry-run")
        assert await asyncio.wait_for(rehearsal.wait(), 120) == 0
        assert "would evict default/unwelcome from a by RemovePodsViolatingNodeTaints" in log.read_text()
        assert not await is_gone(cluster.client)
        process = await start(log, cluster, policy, "--secure-port=0")
        assert await asyncio.wait_for(process.wait(), 120) == 0
        assert "evicted default/unwelcome from a by RemovePodsViolatingNodeTaints" in log.read_text()
        assert await is_gone(cluster.client)


async def test_at_an_interval(tmp_path: Path, policy: Path) -> None:
    port = a_free_port()
    async with Cluster() as cluster:
        process = await start(
            tmp_path / "log",
            cluster,
            policy,
            f"--secure-port={port}",
            "--descheduling-interval=200ms",
            "--leader-elect",
            "--tls-min-version=VersionTLS13",
        )
        try:

            async def page(path: str, token: str = "") -> tuple[int, str]:
                return await asyncio.to_thread(get, port, path, token)

            async def is_ready() -> bool:
                return (await page("/readyz"))[0] == 200

            await eventually(is_ready, seconds=60)
            old = ssl._create_unverified_context()
            old.maximum_version = ssl.TLSVersion.TLSv1_2
            with pytest.raises(OSError):  # the handshake fails, or the connection with it
                await asyncio.open_connection("127.0.0.1", port, ssl=old)
            await prepare(cluster.client)  # it comes to what has changed since its first pass
            await eventually(lambda: is_gone(cluster.client), seconds=60)
            lease = await cluster.client.get(LEASES, "descheduler", "kube-system")
            assert lease["spec"]["holderIdentity"] and lease["spec"]["leaseDurationSeconds"] == 137
            labels = '{result="success",strategy="RemovePodsViolatingNodeTaints",profile="tainted",namespace="default",node="a"} 1'

            async def counted() -> str:
                status, text = await page("/metrics", TOKEN)
                assert status == 200
                return text if "descheduler_pods_evicted_total" + labels in text else ""

            text = await eventually(counted)
            assert "descheduler_pods_evicted" + labels in text
            for name in ("loop_duration_seconds", "strategy_duration_seconds"):
                for prefix in ("descheduler_", "descheduler_descheduler_"):
                    assert f"# TYPE {prefix}{name} histogram" in text
            assert "descheduler_build_info{" in text
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), 60) == 0
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
