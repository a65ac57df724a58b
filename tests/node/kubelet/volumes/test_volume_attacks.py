"""What containers try with their volumes, with real containers: nothing of the host is reached, and nothing hangs."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lib.files.deep_folders import deep_folders
from tests.lib.files.swapping import content, swapping
from tests.node.kubelet.real_node import FOREVER, Node, container, phase, real_node, shell, waits_with
from tests.support import require_program

pytestmark = [pytest.mark.slow, pytest.mark.e2e]
RESTRICTED = {
    "runAsUser": 1000,
    "runAsNonRoot": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    require_program("kubectl")
    with real_node(tmp_path_factory.mktemp("node")) as node:
        yield node


def volume_path(node: Node, pod: dict[str, Any], kind: str, name: str) -> Path:
    return (
        node.directory / "kubelet/pods" / pod["metadata"]["uid"] / "volumes" / f"kubernetes.io~{kind}" / name
    )


def make_config_map(node: Node, name: str, **data: str) -> None:
    node.post("/api/v1/namespaces/default/configmaps", {"metadata": {"name": name}, "data": data})


def change(node: Node, name: str, value: str) -> None:
    node.server.kubectl("patch", "configmap", name, "-p", f'{{"data":{{"key":"{value}"}}}}')


def test_a_restricted_pod_cannot_write_what_the_kubelet_writes(node: Node) -> None:
    """CVE-2017-1002102: configMap, secret, projected and downwardAPI are read-only, and a volume inside of one is not."""
    make_config_map(node, "own", key="one")
    node.post(
        "/api/v1/namespaces/default/secrets", {"metadata": {"name": "own"}, "stringData": {"key": "one"}}
    )
    items = [{"path": "key", "fieldRef": {"fieldPath": "metadata.name"}}]
    volumes: list[dict[str, Any]] = [
        {"name": "cm", "configMap": {"name": "own"}},
        {"name": "secret", "secret": {"secretName": "own"}},
        {"name": "down", "downwardAPI": {"items": items}},
        {"name": "all", "projected": {"sources": [{"configMap": {"name": "own"}}]}},
        {"name": "mine", "emptyDir": {}},
    ]
    mounts = [{"name": volume["name"], "mountPath": f"/{volume['name']}"} for volume in volumes]
    mounts.append({"name": "mine", "mountPath": "/cm/nested/here"})
    mounts.append({"name": "cm", "mountPath": "/file", "subPath": "key"})
    node.create(
        "bound",
        shell(FOREVER, volumeMounts=mounts, securityContext=RESTRICTED),
        volumes=volumes,
        securityContext={"fsGroup": 1000},
    )
    node.until_ready("bound")
    tries = (
        "for d in /cm /secret /down /all; do touch $d/x; ln -s / $d/l; rm $d/..data; mv $d/..data $d/y; mkfifo $d/p;"
        " echo x > $d/key; echo x > $d/..data/z; mkdir $d/..data_tmp; done; echo x > /file; echo end"
    )
    text = node.server.kubectl("exec", "bound", "--", "sh", "-c", f"({tries}) 2>&1")
    assert text.count("Read-only file system") == 4 * 8 + 1, text
    assert text.endswith("end\n")
    text = node.server.kubectl(
        "exec", "bound", "--", "sh", "-c", "touch /cm/nested/here/x; ls /mine; cat /file"
    )
    assert text == "x\none"
    change(node, "own", "two")
    node.until(lambda: node.server.kubectl("exec", "bound", "--", "cat", "/cm/key", "/all/key") == "twotwo")
    node.delete("bound")


def test_what_was_left_in_a_volume_is_not_believed(node: Node, tmp_path: Path) -> None:
    """CVE-2017-1002102: ``..data`` leads elsewhere, pipes take the place of files; done here as a container could have."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    make_config_map(node, "left", key="0", other="o")
    mounts = [{"name": "cm", "mountPath": "/cm"}]
    node.create(
        "left", shell(FOREVER, volumeMounts=mounts), volumes=[{"name": "cm", "configMap": {"name": "left"}}]
    )
    volume = volume_path(node, node.until_ready("left"), "configMap", "cm")
    before = content(outside)

    def until_reads(text: str) -> None:
        node.until(lambda: node.server.kubectl("exec", "left", "--", "cat", "/cm/key", "/cm/other") == text)

    def relink() -> None:
        os.symlink(outside, volume / "evil")
        os.replace(volume / "evil", volume / "..data")

    def pipe() -> None:
        os.mkfifo(volume / "pipe")
        os.replace(volume / "pipe", volume / "..data/other")

    for number, attack in enumerate((relink, pipe), 1):
        attack()
        change(node, "left", str(number))
        until_reads(f"{number}o")
        assert content(outside) == before
    with swapping(volume, "..data", "evil"):
        os.symlink(outside, volume / "evil")
        for number in range(10, 16):
            change(node, "left", str(number))
    change(node, "left", "end")
    until_reads("endo")
    assert content(outside) == before
    node.delete("left")


def test_no_sub_path_leads_to_the_host(node: Node) -> None:
    """CVE-2021-25741, CVE-2017-1002101: a sibling exchanges the folder and a link to ``/`` while containers start."""
    mounts = [{"name": "v", "mountPath": "/v"}]
    node.create(
        "race",
        shell(
            f"mkdir -p /v/folder; echo > /v/folder/inside; ln -s / /v/link; {FOREVER}", volumeMounts=mounts
        ),
        volumes=[{"name": "v", "emptyDir": {}}],
    )
    volume = volume_path(node, node.until_ready("race"), "emptyDir", "v")
    node.until((volume / "link").is_symlink)
    # Pods of others that have the same folder, as a shared claim would give it to them.
    shared = [{"name": "v", "hostPath": {"path": str(volume)}}]
    names = [f"c{number}" for number in range(12)]
    script = "[ -e /mnt/inside ] && exit 0; exit 66"
    sub = [{"name": "v", "mountPath": "/mnt", "subPath": "folder"}]

    def tried(pod: dict[str, Any]) -> bool:
        states = [container(pod, name)["state"] for name in names]
        return all("terminated" in state or "CreateContainerConfigError" in str(state) for state in states)

    with swapping(volume, "folder", "link"):
        node.create(
            "victim", *(shell(script, name, volumeMounts=sub) for name in names), volumes=shared, restartPolicy="Never"
        )  # fmt: skip
        node.until_pod("victim", tried)
    if not (volume / "folder/inside").exists():
        os.rename(volume / "folder", volume / "other")
        os.rename(volume / "link", volume / "folder")
    pod = node.until_pod("victim", lambda pod: pod["status"].get("phase") in ("Succeeded", "Failed"))
    codes = [container(pod, name)["state"]["terminated"]["exitCode"] for name in names]
    assert codes == [0] * len(names)
    node.delete("victim")
    node.delete("race")


def test_last_words_in_a_pipe_or_a_link(node: Node) -> None:
    """A termination message is read from a file alone: a pipe does not hang the kubelet, a link tells nothing."""
    setup = "mkfifo /v/pipe; ln -s /etc/passwd /v/link; echo words > /v/file"
    for what in ("pipe", "file", "link"):
        mounts = [{"name": "v", "mountPath": "/dev/termination-log", "subPath": what}]
        node.create(
            f"last-{what}",
            shell("exit 3", volumeMounts=mounts, terminationMessagePath="/dev/termination-log"),
            initContainers=[shell(setup, "setup", volumeMounts=[{"name": "v", "mountPath": "/v"}])],
            volumes=[{"name": "v", "emptyDir": {}}],
            restartPolicy="Never",
        )
    state = container(node.until_pod("last-link", waits_with("CreateContainerConfigError")))["state"][
        "waiting"
    ]
    assert state["message"] == 'failed to prepare subPath for volumeMount "v" of container "c"'
    ended = {what: container(node.until_pod(f"last-{what}", phase("Failed"))) for what in ("pipe", "file")}
    assert ended["file"]["state"]["terminated"]["message"] == "words\n"
    assert "not a regular file" in ended["pipe"]["state"]["terminated"]["message"]
    for what in ("pipe", "file", "link"):
        node.delete(f"last-{what}")


def test_last_words_without_end(node: Node) -> None:
    """However much a container says at its end, in its file or on one line of its log, a part of it is read."""
    endless = "head -c 3000000 /dev/zero | tr '\\0' x"
    node.create("long-file", shell(f"{endless} > /dev/termination-log; exit 1"), restartPolicy="Never")
    node.create(
        "long-log",
        shell(f"{endless}; exit 1", terminationMessagePolicy="FallbackToLogsOnError"),
        restartPolicy="Never",
    )
    for name, length in (("long-file", 4096), ("long-log", 2048)):
        state = container(node.until_pod(name, phase("Failed")))["state"]["terminated"]
        assert state["message"] == "x" * length
    assert node.server.kubectl("logs", "long-log", "--tail=1") == "x" * 3000000
    for name in ("long-file", "long-log"):
        node.delete(name)


def test_what_a_pod_leaves_in_its_volume_is_measured_and_removed(node: Node, tmp_path: Path) -> None:
    """Links to the host, pipes, and folders deeper than any path: nothing hangs, nothing outside of the volume goes."""
    (tmp_path / "kept").write_text("kept")
    before = content(tmp_path)
    script = f"cd /v; ln -s / root; ln -s {tmp_path} kept; mkfifo pipe; echo made; {FOREVER}"
    mounts = [{"name": "v", "mountPath": "/v"}]
    node.create("mess", shell(script, volumeMounts=mounts), volumes=[{"name": "v", "emptyDir": {}}])
    volume = volume_path(node, node.until_ready("mess"), "emptyDir", "v")
    node.until(lambda: node.server.kubectl("logs", "mess") == "made\n")

    def inodes() -> int:
        _, summary = node.server.call("GET", f"/api/v1/nodes/{node.name}/proxy/stats/summary")
        pods = [pod for pod in summary.get("pods", ()) if pod["podRef"]["name"] == "mess"]
        return next((volume["inodesUsed"] for pod in pods for volume in pod.get("volume", ())), 0)

    with deep_folders(volume / "deep", 1000):
        node.until(lambda: inodes() == 1 + 3 + 1001 + 1)
        node.delete("mess")
    assert content(tmp_path) == before


def test_sub_paths_outlive_the_kubelet_and_go_with_their_pod(node: Node) -> None:
    """Files and folders; read-only where asked; after restarts of container and kubelet; and orphans."""
    mounts = [
        {"name": "v", "mountPath": "/folder", "subPath": "d"},
        {"name": "v", "mountPath": "/file", "subPath": "file", "readOnly": True},
        {"name": "v", "mountPath": "/made", "subPathExpr": "$(NAME)/deep"},
        {"name": "v", "mountPath": "/fixed", "subPath": "d", "readOnly": True},
    ]
    script = (
        "cat /file; (echo x > /file) 2>/dev/null || echo kept; echo run >> /made/runs; touch /folder/x;"
        " (touch /fixed/y) 2>/dev/null || echo fixed; until rm /folder/end 2>/dev/null; do sleep 0.05; done"
    )
    env = [{"name": "NAME", "value": "new"}]
    node.create(
        "subs",
        shell(script, volumeMounts=mounts, env=env),
        initContainers=[
            shell(
                "mkdir -p /v/d; echo text > /v/file", "setup", volumeMounts=[{"name": "v", "mountPath": "/v"}]
            )
        ],
        volumes=[{"name": "v", "emptyDir": {}}],
    )
    pod = node.until_ready("subs")
    uid = pod["metadata"]["uid"]
    volume = volume_path(node, pod, "emptyDir", "v")
    node.until(lambda: node.server.kubectl("logs", "subs") == "text\nkept\nfixed\n")
    assert (volume / "d/x").exists() and (volume / "new/deep").stat().st_mode & 0o777 == 0o777
    node.stop_kubelet(signal.SIGKILL)
    node.start_kubelet()
    (volume / "d/end").touch()
    node.until(lambda: (volume / "new/deep/runs").read_text() == "run\nrun\n")
    assert len([trace for trace in node.traces(uid) if "volume-subpaths" in trace]) == len(mounts)
    node.stop_kubelet(signal.SIGKILL)
    node.server.call("DELETE", "/api/v1/namespaces/default/pods/subs?gracePeriodSeconds=0")
    node.until(lambda: node.pod("subs") is None)
    node.start_kubelet()
    node.until(lambda: not node.traces(uid))


def test_names_leases_and_hooks_hold_nobody_up(node: Node) -> None:
    """A folder whose name breaks lists of mounts, a lease on /etc/hosts, a hook that asks no host: only its pod notices."""
    fill = [{"name": f"A{n}", "value": f"$(A{n - 1})" * 10} for n in range(1, 12)]
    node.create(
        "loud",
        shell(
            FOREVER,
            lifecycle={"preStop": {"httpGet": {"host": "[x", "port": 80}}},
            volumeMounts=[{"name": "v", "mountPath": "/v", "subPath": "re\rturn\f"}],
        ),
        shell("until rm /v/end 2>/dev/null; do sleep 0.05; done", "again",
              volumeMounts=[{"name": "v", "mountPath": "/v"}]),
        shell("exit", "huge", env=[{"name": "A0", "value": "x" * 100}, *fill, {"name": "B", "value": "$(" * 200_000}]),
        volumes=[{"name": "v", "emptyDir": {}}],
    )  # fmt: skip

    def waits(name: str) -> str:
        pod = node.pod("loud")
        assert pod is not None
        return container(pod, name)["state"].get("waiting", {}).get("reason", "")

    pod = node.until_pod(
        "loud", lambda pod: all("running" in container(pod, n)["state"] for n in ("c", "again"))
    )
    node.until(lambda: waits("huge") == "CreateContainerConfigError")
    hosts = node.directory / "kubelet/pods" / pod["metadata"]["uid"] / "etc-hosts"
    with hosts.open("r+") as theirs:
        fcntl.fcntl(theirs, fcntl.F_SETSIG, signal.SIGURG)  # the usual signal would end us
        fcntl.fcntl(theirs, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        (volume_path(node, pod, "emptyDir", "v") / "end").touch()
        node.until(lambda: waits("again") == "CreateContainerConfigError")
        node.create("quiet", shell(FOREVER))
        node.until_ready("quiet")
        node.delete("quiet")
        fcntl.fcntl(theirs, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    node.until_pod("loud", lambda pod: "running" in container(pod, "again")["state"])
    node.delete("loud")
