"""kube-scheduler as a program: its command line, and a run of it from start to stop."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import ssl
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from pybernetes.client.refs import LEASES, PODS
from pybernetes.cmd import kube_scheduler
from tests.cluster import TOKEN, Cluster
from tests.control_plane.scheduler.helpers import add_node, is_on
from tests.scheduling.builders import node, pod
from tests.support import eventually

# As kubeadm and its kin have always written it.
USUAL = (
    "--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
    "--authorization-kubeconfig=/etc/kubernetes/scheduler.conf",
    "--bind-address=127.0.0.1",
    "--feature-gates=IPv6DualStack=false",
    "--kubeconfig=/etc/kubernetes/scheduler.conf",
    "--leader-elect=true",
    "--port=0",
    "--profiling=false",
)


def test_the_usual_command_line() -> None:
    settings = kube_scheduler.configuration(kube_scheduler.parser().parse_args(USUAL))
    assert (settings.kubeconfig, settings.leader_elect, settings.lease_name) == (
        "/etc/kubernetes/scheduler.conf", True, "kube-scheduler",
    )  # fmt: skip


def test_flags_of_leader_election_win_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "config"
    value: dict[str, Any] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": "/from/file"},
        "leaderElection": {"leaseDuration": "60s", "resourceName": "mine"},
        "profiles": [{"schedulerName": "one"}, {"schedulerName": "two"}],
    }
    path.write_text(json.dumps(value))
    options = kube_scheduler.parser().parse_args(
        [
            f"--config={path}",
            "--kubeconfig=/ignored",
            "--leader-elect-lease-duration=20s",
            "--leader-elect=false",
        ]
    )
    settings = kube_scheduler.configuration(options)
    assert (settings.kubeconfig, settings.lease_seconds, settings.lease_name) == ("/from/file", 20.0, "mine")
    assert not settings.leader_elect and [profile.scheduler_name for profile in settings.profiles] == [
        "one",
        "two",
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--kubeconfig=/nowhere"], "/nowhere"),
        (["--config=/nowhere"], "open /nowhere: no such file"),
        (["--leader-elect-resource-lock=endpoints"], 'resourceLock value must be "leases"'),
    ],
)
def test_what_cannot_be(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert kube_scheduler.main(arguments) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("kube-scheduler: ") and complaint in printed


def get(port: int, path: str, token: str = "") -> tuple[int, str]:
    """Return a page of the program; its certificate is its own."""
    request = urllib.request.Request(f"https://127.0.0.1:{port}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def a_free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


async def test_a_run(tmp_path: Path) -> None:
    free_port = a_free_port()
    async with Cluster() as cluster:
        access = cluster.kubeconfig()
        arguments = [
            argument.replace("/etc/kubernetes/scheduler.conf", str(access)) for argument in USUAL
        ] + [f"--secure-port={free_port}"]
        with (tmp_path / "log").open("w") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "pybernetes.cmd.main", "kube-scheduler", *arguments, stderr=log
            )
        try:
            await add_node(cluster.client, node("n"))
            await cluster.client.create(PODS, pod("p"))
            await eventually(lambda: is_on(cluster.client, "p", "n"), seconds=60)
            lease = await cluster.client.get(LEASES, "kube-scheduler", "kube-system")
            assert lease["spec"]["holderIdentity"]

            async def page(path: str, token: str = "") -> tuple[int, str]:
                return await asyncio.to_thread(get, free_port, path, token)

            assert await page("/healthz") == (200, "ok")
            assert (await page("/readyz"))[0] == 200
            for path in ("/metrics", "/statusz", "/flagz", "/configz"):
                assert (await page(path))[0] == 403
            assert "kube-scheduler statusz" in (await page("/statusz", TOKEN))[1]
            shown = json.loads((await page("/configz", TOKEN))[1])["componentconfig"]
            assert shown["apiVersion"] == "kubescheduler.config.k8s.io/v1"
            assert shown["profiles"][0]["schedulerName"] == "default-scheduler"
            assert f"secure-port: {free_port}" in (await page("/flagz", TOKEN))[1]

            async def counted() -> str:
                """Return the metrics, once the scheduler has heard that the pod is bound."""
                status, text = await page("/metrics", TOKEN)
                assert status == 200
                counts = 'scheduler_schedule_attempts_total{result="scheduled",profile="default-scheduler"} 1'
                return text if counts in text else ""

            metrics = await eventually(counted)
            assert 'scheduler_pending_pods{queue="active"} 0' in metrics
            assert 'scheduler_cache_size{type="nodes"} 1' in metrics
            for name in ("scheduling_attempt_duration_seconds", "scheduling_algorithm_duration_seconds",
                         "pod_scheduling_attempts", "pod_scheduling_sli_duration_seconds", "preemption_victims"):  # fmt: skip
                assert f"# TYPE scheduler_{name} histogram" in metrics
            assert 'leader_election_master_status{name="kube-scheduler"} 1' in metrics
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), 60) == 0
            # The lease is given back, so that the next one need not wait.
            lease = await cluster.client.get(LEASES, "kube-scheduler", "kube-system")
            assert not lease["spec"].get("holderIdentity")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
