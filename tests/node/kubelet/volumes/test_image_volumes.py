"""Volumes from images: what runtimes can do, where paths lead, and real ones on a real containerd."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib import oci
from pybernetes.lib.clock import Clock
from pybernetes.node.containerd import images
from pybernetes.node.kubelet.images.image_puller import ImageError, ImagePuller
from pybernetes.node.kubelet.volumes.image_volumes import ImageVolumes, can_mount_images, mounted_images
from tests.node.kubelet.images.test_image_puller import access
from tests.node.kubelet.real_node import FOREVER, Node, container, real_node
from tests.support import require_program

TOOLS = "example.test/tools:1"
PAGES = "example.test/pages:1"


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("containerd", "1.6.20~ds1", False),
        ("containerd", "v1.7.27", False),
        ("containerd", "v2.1.4", False),  # images, but no folders of them
        ("containerd", "v2.2.0-rc.1", True),
        ("containerd", "3.0.0", True),
        ("containerd", "a build of my own", False),
        ("cri-o", "1.33.0", True),
        ("other", "", True),
    ],
)
def test_runtimes_that_mount_images(name: str, version: str, expected: bool) -> None:
    assert can_mount_images(name, version) is expected


def test_images_that_a_container_mounts() -> None:
    volumes = [{"name": "a", "image": {}}, {"name": "b", "image": {}}, {"name": "c", "emptyDir": {}}]
    mounted = [{"name": name} for name in ("c", "b", "b")]
    assert mounted_images({"spec": {"volumes": volumes}}, {"volumeMounts": mounted}) == [volumes[1]]
    assert mounted_images({"spec": {}}, {}) == []


class _Runtime:
    """A runtime that mounts images, and of which containerd's own services are not asked for."""

    def __init__(self) -> None:
        self.channel: Any = SimpleNamespace(unary_unary=lambda *_, **__: None)
        self.pulled: list[str] = []

    async def version(self) -> Any:
        return SimpleNamespace(runtime_name="cri-o", runtime_version="1.34.0")

    async def image_status(self, image: str) -> Any:
        return SimpleNamespace(id=f"sha256:{len(self.pulled)}", size=1) if self.pulled else None

    async def pull_image(self, image: str, auth: Any, config: Any) -> str:
        self.pulled.append(image)
        return image


def test_a_runtime_that_mounts_images_is_told_which(tmp_path: Path) -> None:
    runtime: Any = _Runtime()
    told: list[tuple[str, str, str]] = []
    volumes = ImageVolumes(runtime, ImagePuller(runtime, Clock(), access(tmp_path)), tmp_path)
    definition = {"name": "c", "volumeMounts": [{"name": "v"}]}

    def provide(reference: str) -> Any:
        source = {"reference": reference, "pullPolicy": "Always"}
        pod = {"metadata": {"uid": "u"}, "spec": {"volumes": [{"name": "v", "image": source}]}}
        return asyncio.run(volumes.provide(pod, definition, [], None, lambda *event: told.append(event)))["v"]

    mounted = provide("a/b:1")
    assert (mounted.path, mounted.image.image, mounted.image.user_specified_image) == (
        "",
        "sha256:1",
        "a/b:1",
    )
    assert provide("a/b:1") == mounted and len(runtime.pulled) == 1  # for the pod's life
    asyncio.run(volumes.release("u"))
    assert provide("a/b:1").image.image == "sha256:2"
    asyncio.run(volumes.release("u"))
    with pytest.raises(ImageError) as caught:
        provide("UP CASE")
    parsed = 'couldn\'t parse image name "UP CASE": invalid reference format'
    text = f'Failed to apply default image tag "UP CASE": {parsed}'
    assert (caught.value.reason, caught.value.message) == ("InvalidImageName", text)
    assert told[-1] == ("Warning", "InspectFailed", text)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    require_program("kubectl")
    with real_node(tmp_path_factory.mktemp("images")) as node:
        program = oci.File(Path(require_program("busybox")).read_bytes(), 0o755)
        lower = oci.layer({"etc/name": oci.File(b"lower"), "busybox": program})
        upper = oci.layer({"etc/name": oci.File(b"upper"), "link": oci.File(link="/etc")})
        page = oci.layer({"index.html": oci.File(b"page")})
        for archive in (
            oci.archive(TOOLS, lower, oci.Process(), upper),
            oci.archive(PAGES, page, oci.Process()),
        ):
            node.runner.run(images.load(node.places.socket, archive))
        yield node


def _image(name: str, reference: str) -> dict[str, Any]:
    return {"name": name, "image": {"reference": reference, "pullPolicy": "IfNotPresent"}}


def _shell(*mounted: dict[str, Any], text: str = FOREVER, name: str = "c") -> dict[str, Any]:
    return {"name": name, "command": ["sh", "-c", text], "volumeMounts": list(mounted)}


def _kept(node: Node, pod: dict[str, Any]) -> list[str]:
    """Return what containerd keeps for the volumes of a pod."""
    command = ["ctr", "--address", str(node.places.socket), "--namespace", "k8s.io"]
    lines = [
        line
        for what in ("snapshots", "leases")
        for line in subprocess.run(
            [*command, what, "list"], capture_output=True, text=True, check=True, timeout=60
        ).stdout.splitlines()
    ]
    return [line for line in lines if pod["metadata"]["uid"] in line]


def _waits(pod: dict[str, Any], name: str = "c") -> dict[str, Any]:
    return container(pod, name)["state"].get("waiting", {})


def _messages(node: Node) -> set[str]:
    events = node.server.call("GET", "/api/v1/namespaces/default/events")[1]["items"]
    return {event["message"].partition(": rpc")[0].partition(": failed to")[0] for event in events}


@pytest.mark.slow
@pytest.mark.e2e
def test_images_are_mounted_and_leave_nothing(node: Node) -> None:
    node.create(
        "images",
        _shell(
            {"name": "tools", "mountPath": "/tools"},
            {"name": "pages", "mountPath": "/pages"},
            {"name": "tools", "mountPath": "/below", "subPath": "link"},
            {"name": "tools", "mountPath": "/name", "subPath": "etc/name"},
        ),
        initContainers=[
            _shell({"name": "pages", "mountPath": "/p"}, text="grep page /p/index.html", name="init")
        ],
        volumes=[_image("tools", TOOLS), _image("pages", PAGES), _image("unused", "example.test/none:1")],
    )
    pod = node.until_ready("images")
    script = (
        "cat /tools/etc/name /pages/index.html /below/name /name; grep ' /tools\\| /pages' /proc/mounts;"
        "for path in /tools /pages /below; do touch $path/new 2>&1; done; /tools/busybox true 2>&1; true"
    )
    text = node.server.kubectl("exec", "images", "--", "sh", "-c", script)
    assert text.startswith("upperpageupperupper")
    assert text.count("ro,nosuid,nodev,noexec") == 2
    assert text.count("Read-only file system") == 3 and text.count("Permission denied") == 1
    assert len(_kept(node, pod)) == 4

    # A kubelet that was killed finds the volumes again; a container that starts anew gets the same.
    node.stop_kubelet(signal.SIGKILL)
    node.start_kubelet()
    node.until(lambda: node.server.call("GET", f"/api/v1/nodes/{node.name}/proxy/healthz")[0] == 200)
    assert len(_kept(node, pod)) == 4
    with contextlib.suppress(AssertionError):  # the command may be gone with the container that it ends
        node.server.kubectl("exec", "images", "--", "sh", "-c", "kill 1")
    node.until_pod("images", lambda pod: container(pod).get("restartCount") == 1 and container(pod)["ready"])
    assert node.server.kubectl("exec", "images", "--", "cat", "/tools/etc/name") == "upper"
    assert len(_kept(node, pod)) == 4

    # What a pod has left that went while the kubelet was away goes when the kubelet is back.
    node.stop_kubelet(signal.SIGKILL)
    path = "/api/v1/namespaces/default/pods/images?gracePeriodSeconds=0"
    assert node.server.call("DELETE", path)[0] == 200
    node.start_kubelet()
    node.until(lambda: not node.traces(pod["metadata"]["uid"]))
    assert not _kept(node, pod)


@pytest.mark.slow
@pytest.mark.e2e
def test_images_that_cannot_be_had(node: Node) -> None:
    """Only the containers that want such a volume wait."""
    node.create(
        "wants",
        _shell({"name": "none", "mountPath": "/v"}, name="none"),
        _shell({"name": "pages", "mountPath": "/v", "subPath": "not-there"}, name="path"),
        _shell({"name": "never", "mountPath": "/v"}, name="never"),
        _shell(name="c"),
        volumes=[
            _image("none", "127.0.0.1:1/none:1"),
            _image("pages", PAGES),
            {"name": "never", "image": {"reference": "example.test/never:1", "pullPolicy": "Never"}},
        ],
    )
    expected = {"none": "ImagePullBackOff", "path": "CreateContainerError", "never": "ErrImageNeverPull"}
    pod = node.until_pod(
        "wants",
        lambda pod: (
            "running" in container(pod)["state"]
            and all(_waits(pod, name).get("reason") == reason for name, reason in expected.items())
        ),
    )
    assert 'Back-off pulling image "127.0.0.1:1/none:1"' in _waits(pod, "none")["message"]
    text = f'ImageVolumeMountFailed: the path "not-there" is not in the image "{PAGES}"'
    assert _waits(pod, "path")["message"] == text
    expected_events = {"Error: ImagePullBackOff", 'Failed to pull image "127.0.0.1:1/none:1"'}
    node.until(lambda: expected_events <= _messages(node))
    node.delete("wants")
    assert not _kept(node, pod)
