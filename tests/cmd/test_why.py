"""pyb why and pyb trace on the command line."""

import asyncio
import json
import subprocess
import sys

import pytest

from pybernetes.client.refs import PODS
from pybernetes.cmd import trace, why
from tests.cluster import Cluster, pod


def program(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pybernetes.cmd.main", name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


async def test_both_programs_answer_for_people_and_for_programs() -> None:
    async with Cluster() as cluster:
        await cluster.client.create(PODS, pod("web"))
        access = ("--kubeconfig", str(cluster.kubeconfig()), "-n", "default")

        async def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
            return await asyncio.to_thread(program, name, *arguments, *access)

        told = await run("trace", "pod/web", "-o", "json")
        assert [row["name"] for row in json.loads(told.stdout)["steps"]] == [
            "request",
            "admission",
            "write",
            "queue",
        ]
        assert told.returncode == 1
        shown = await run("trace", "web")
        assert "1 request" in shown.stdout
        answer = await run("why", "pod/web", "-o", "json")
        assert json.loads(answer.stdout)["findings"][0]["title"] == "There are no nodes."
        assert answer.returncode == 1
        allowed = await run("why", "can-i", "create", "pods")
        assert "may create pods" in allowed.stdout and allowed.returncode == 0
        text = 'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"'
        refused = await run("why", text, "-o", "json")
        assert "verbs: ['list']" in refused.stdout and refused.returncode == 1
        assert "--clusterrole=view" in refused.stdout
        absent = await run("why", "pod/none")
        assert 'pods "none" not found' in absent.stderr and absent.returncode == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pod/"], "it takes one object"), (["a", "b", "c"], "it takes one object"), (["can-i", "get"], "a verb and a resource"),
        (["secret/x"], "nothing can be said about secret"),
    ],
)  # fmt: skip
async def test_what_cannot_be_asked(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with Cluster() as cluster:
        code = await asyncio.to_thread(why.main, [*arguments, "--kubeconfig", str(cluster.kubeconfig())])
    assert code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(("text", "name"), [("pod/web", "web"), ("web", "web"), ("po/web", "web")])
def test_names_of_pods(text: str, name: str) -> None:
    assert trace.pod_name(text) == name


@pytest.mark.parametrize("text", ["deployment/web", "pod/", ""])
def test_what_is_no_pod(text: str) -> None:
    with pytest.raises(ValueError, match="is no pod"):
        trace.pod_name(text)
