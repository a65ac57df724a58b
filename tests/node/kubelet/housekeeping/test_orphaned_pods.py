"""What is left of unknown pods is removed, what belongs to known ones stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pybernetes.lib.tracing import Spans
from pybernetes.node.kubelet.cri import label_keys
from pybernetes.node.kubelet.housekeeping.orphaned_pods import OrphanedPods


class _Noted(Spans):
    """Notes the names of spans."""

    def __init__(self) -> None:
        self.names: list[str] = []

    @contextmanager
    def part(self, name: str, attributes: Any, *, client: bool = False) -> Iterator[None]:
        self.names.append(name)
        yield


class _Cri:
    """A runtime with a container and a sandbox of each of two pods."""

    def __init__(self) -> None:
        self.removed: list[str] = []

    async def list_containers(self) -> list[Any]:
        return [SimpleNamespace(id=f"c-{uid}", labels={label_keys.POD_UID: uid}) for uid in ("known", "gone")]

    async def list_pod_sandboxes(self) -> list[Any]:
        return [SimpleNamespace(id=f"s-{uid}", labels={label_keys.POD_UID: uid}) for uid in ("known", "gone")]

    async def stop_container(self, name: str, grace: float) -> None:
        pass

    async def stop_pod_sandbox(self, name: str) -> None:
        pass

    async def remove_container(self, name: str) -> None:
        self.removed.append(name)

    async def remove_pod_sandbox(self, name: str) -> None:
        self.removed.append(name)


async def test_only_unknown_pods_go(tmp_path: Path) -> None:
    for uid in ("known", "gone"):
        (tmp_path / f"default_pod_{uid}").mkdir()
    cri, spans = _Cri(), _Noted()
    nothing = SimpleNamespace(orphans=lambda known: [])
    context: Any = SimpleNamespace(
        cri=cri, spans=spans, volumes=nothing, cgroups=nothing, settings=SimpleNamespace(logs=tmp_path)
    )
    await OrphanedPods(context).clean({"known"})
    assert cri.removed == ["c-gone", "s-gone"]
    assert [folder.name for folder in tmp_path.iterdir()] == ["default_pod_known"]
    assert spans.names == ["Containers/GarbageCollect"]


async def test_pods_that_come_meanwhile_stay(tmp_path: Path) -> None:
    """A kubelet that starts is given pods while it cleans: their sandboxes and volumes are not left-overs."""
    known = {"known"}

    class Slow(_Cri):
        async def list_pod_sandboxes(self) -> list[Any]:
            known.add("gone")
            return await super().list_pod_sandboxes()

    unmounted: list[str] = []

    async def unmount(uid: str) -> None:
        unmounted.append(uid)

    cri = Slow()
    volumes = SimpleNamespace(orphans=lambda known: ["gone", "other"], unmount=unmount)
    context: Any = SimpleNamespace(
        cri=cri, spans=Spans(), volumes=volumes, cgroups=SimpleNamespace(orphans=lambda known: []),
        settings=SimpleNamespace(logs=tmp_path),
    )  # fmt: skip
    await OrphanedPods(context).clean(known)
    assert cri.removed == ["c-gone"]  # before it was known
    assert unmounted == ["other"]
