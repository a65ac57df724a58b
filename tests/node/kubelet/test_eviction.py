"""When a node is under pressure, who goes, and what images and logs go: tables."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.containers import logs
from pybernetes.node.kubelet.cri import label_keys
from pybernetes.node.kubelet.eviction import disk_limits, ranking, thresholds
from pybernetes.node.kubelet.eviction.thresholds import Amount, Observation, Threshold, Watch
from pybernetes.node.kubelet.housekeeping import image_gc, log_rotation
from pybernetes.node.kubelet.housekeeping.image_gc import ImageGarbageCollector
from pybernetes.node.kubelet.metrics import KubeletMetrics
from pybernetes.node.kubelet.pod_admission import preemption
from pybernetes.node.stats.filesystem import Filesystem

GIB = 1 << 30


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"evictionHard": {"memory.available": "100Mi"}}, [("memory.available", 0.0)]),
        (
            {"evictionHard": {"memory.available": "0%", "nodefs.available": "10%"}},
            [("nodefs.available", 0.0)],
        ),
        (
            {
                "evictionSoft": {"memory.available": "1Gi"},
                "evictionSoftGracePeriod": {"memory.available": "90s"},
            },
            [("memory.available", 90.0)],
        ),
        (
            {"evictionHard": {"memory.available": "1Gi"}, "enforceNodeAllocatable": ["pods"]},
            [("memory.available", 0.0), ("allocatableMemory.available", 0.0)],
        ),
        ({"evictionHard": {"containerfs.available": "5%"}}, []),
    ],
)
def test_thresholds_are_read(settings: dict[str, Any], expected: list[tuple[str, float]]) -> None:
    assert [(each.signal, each.grace) for each in thresholds.parse(settings)] == expected


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"evictionHard": {"cpu.available": "1"}}, "unsupported eviction signal cpu.available"),
        ({"evictionHard": {"memory.available": "-1Gi"}}, "must be positive"),
        ({"evictionHard": {"memory.available": "-1%"}}, "must be >= 0%"),
        ({"evictionHard": {"memory.available": "110%"}}, "must be <= 100%"),
        (
            {"evictionSoft": {"memory.available": "1Gi"}},
            "grace period must be specified for the soft eviction",
        ),
        ({"evictionMinimumReclaim": {"memory.available": "-1"}}, "negative eviction minimum reclaim"),
    ],
)
def test_thresholds_that_cannot_be(settings: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        thresholds.parse(settings)


def test_pressure_comes_and_goes() -> None:
    hard = Threshold("nodefs.available", Amount("1Gi"), reclaim=Amount("1Gi"))
    soft = Threshold("memory.available", Amount("2Gi"), grace=60.0)
    watch = Watch([hard, soft], transition=300.0)

    def step(disk: int, memory: int, now: float) -> tuple[list[str], list[str]]:
        seen = {
            "nodefs.available": Observation(disk * GIB // 2, 100 * GIB),
            "memory.available": Observation(memory * GIB, 8 * GIB),
        }
        conditions, due = watch.step(seen, now)
        return sorted(conditions), [each.signal for each in due]

    assert step(10, 4, 0) == ([], [])
    assert step(10, 1, 10) == (["MemoryPressure"], [])  # soft: not yet
    assert step(10, 1, 71) == (["MemoryPressure"], ["memory.available"])
    assert step(1, 1, 80) == (["DiskPressure", "MemoryPressure"], ["memory.available", "nodefs.available"])
    assert step(3, 4, 90) == (["DiskPressure", "MemoryPressure"], ["nodefs.available"])  # until 2Gi are free
    assert step(5, 4, 100) == (["DiskPressure", "MemoryPressure"], [])  # stays for the transition period
    assert step(5, 4, 381) == (["DiskPressure"], []) and step(5, 4, 391) == ([], [])


def _pod(name: str, priority: int = 0, request: str = "", **spec: Any) -> dict[str, Any]:
    requests = {"memory": request, "ephemeral-storage": request} if request else {}
    container = {"name": "c", "resources": {"requests": requests}}
    return {
        "metadata": {"name": name, "namespace": "x", "uid": name},
        "spec": {"containers": [container], "priority": priority, **spec},
    }


def _figures(memory: int = 0, disk: int = 0, processes: int = 0) -> dict[str, Any]:
    return {
        "memory": {"workingSetBytes": memory},
        "containers": [
            {
                "name": "c",
                "memory": {"workingSetBytes": memory},
                "rootfs": {"usedBytes": disk, "inodesUsed": disk},
                "logs": {},
            }
        ],
        "process_stats": {"process_count": processes},
    }


@pytest.mark.parametrize(
    ("signal", "pods", "order"),
    [
        # more than asked for goes before less, then low priority, then the most beyond
        (
            "memory.available",
            {
                "within": (_pod("within", 0, "2Gi"), _figures(GIB)),
                "over": (_pod("over", 0), _figures(GIB)),
                "more": (_pod("more", 0), _figures(2 * GIB)),
                "high": (_pod("high", 10), _figures(3 * GIB)),
            },
            ["more", "over", "high", "within"],
        ),
        ("memory.available", {"a": (_pod("a"), _figures(GIB)), "b": (_pod("b"), None)}, ["b", "a"]),
        (
            "nodefs.available",
            {"a": (_pod("a", 0, "1Gi"), _figures(disk=GIB // 2)), "b": (_pod("b", 5), _figures(disk=1000))},
            ["b", "a"],
        ),
        (
            "pid.available",
            {"a": (_pod("a", 5), _figures(processes=99)), "b": (_pod("b"), _figures(processes=1)), "c": (_pod("c"), _figures(processes=9))},
            ["c", "b", "a"],
        ),
    ],
)  # fmt: skip
def test_who_goes_first(signal: str, pods: dict[str, Any], order: list[str]) -> None:
    figures = {name: found for name, (_, found) in pods.items() if found is not None}
    ranked = ranking.rank([pod for pod, _ in pods.values()], figures, signal)
    assert [pod["metadata"]["name"] for pod in ranked] == order


def test_what_an_evicted_pod_is_told() -> None:
    due = [Threshold("memory.available", Amount("100Mi"))]
    seen = {"memory.available": Observation(60 << 20, 8 * GIB)}
    text, notes = ranking.message(_pod("p", 0, "1Mi"), _figures(5 << 20), due, seen, "memory")
    assert text == (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 60Mi. "
        "Container c was using 5Mi, request is 1Mi, has larger consumption of memory. "
    )
    assert notes == {
        "offending_containers": "c",
        "offending_containers_usage": "5Mi",
        "starved_resource": "memory",
    }


@pytest.mark.parametrize(
    ("pod", "conditions", "refused"),
    [
        (_pod("a"), set(), False),
        (_pod("a"), {"MemoryPressure"}, True),
        (_pod("a", request="1Gi"), {"MemoryPressure"}, False),
        (_pod("a", request="1Gi"), {"DiskPressure"}, True),
        (_pod("a", priority=2_000_001_000), {"DiskPressure"}, False),
        (_pod("a", tolerations=[{"key": "node.kubernetes.io/memory-pressure", "operator": "Exists"}]), {"MemoryPressure"}, False),
        (_pod("a", tolerations=[{"operator": "Exists"}]), {"DiskPressure", "MemoryPressure"}, True),
    ],
)  # fmt: skip
def test_admission_under_pressure(pod: dict[str, Any], conditions: set[str], refused: bool) -> None:
    found = ranking.refusal(pod, frozenset(conditions))
    assert (found is not None) is refused
    if found is not None:
        assert found == ("Evicted", f"The node had condition: [{' '.join(sorted(conditions))}]. ")


@pytest.mark.parametrize(
    ("change", "used", "expected"),
    [
        ({}, {}, None),
        (
            {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Mi"}}]},
            {"volume": 2 << 20},
            disk_limits.EMPTY_DIR,
        ),
        ({"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Mi"}}]}, {"volume": 1 << 20}, None),
        (
            {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Mi", "medium": "Memory"}}]},
            {"volume": 2 << 20},
            None,
        ),
        ({"limit": "1Mi"}, {"pod": 2 << 20}, disk_limits.POD),
        ({"limit": "1Mi"}, {"logs": 2 << 20}, disk_limits.CONTAINER),
        ({"limit": "1Mi"}, {"logs": 1000}, None),
    ],
)
def test_limits_of_local_storage(change: dict[str, Any], used: dict[str, int], expected: str | None) -> None:
    pod = _pod("p", volumes=change.get("volumes", []))
    if "limit" in change:
        pod["spec"]["containers"][0]["resources"]["limits"] = {"ephemeral-storage": change["limit"]}
    found = {
        "volume": [{"name": "v", "usedBytes": used.get("volume", 0)}],
        "ephemeral-storage": {"usedBytes": used.get("pod", 0)},
        "containers": [{"name": "c", "logs": {"usedBytes": used.get("logs", 0)}, "rootfs": {}}],
    }
    assert disk_limits.applies(pod) is (bool(change) and "Memory" not in str(change))
    over = disk_limits.exceeded(pod, found)
    assert (over[0] if over else None) == expected


def test_images_that_may_go() -> None:
    def image(name: str, **more: Any) -> Any:
        return SimpleNamespace(
            id=name, repo_tags=[f"{name}:1"], repo_digests=[], size=10, pinned=False, **more
        )

    images = [image("used"), image("pause"), image("old"), image("new")]
    records, _ = image_gc.seen({}, images[:3], frozenset({"old:1"}), frozenset(), 100.0)
    records, in_use = image_gc.seen(records, images, frozenset({"used"}), frozenset({"pause:1"}), 200.0)
    assert in_use == {"used"} and records["old"].first_seen == 100.0 and records["old"].last_used == 100.0
    assert image_gc.order(records, in_use) == [
        "new",
        "old",
    ]  # one that was never used goes before one that was


@pytest.mark.parametrize(
    ("available", "expected"), [(50, 0), (16, 0), (15, 5), (0, 20), (200, 0)], ids=lambda each: str(each)
)
def test_how_much_disk_images_give_back(available: int, expected: int) -> None:
    assert image_gc.wanted(100, available, 85, 80) == expected


def test_logs_that_go() -> None:
    files = ["0.log.20260101-000000.gz", "0.log.20260102-000000.gz", "0.log.20260103-000000"]
    assert log_rotation.excess(files, 5) == [] and log_rotation.excess(files, 4) == files[:1]
    assert log_rotation.excess(files, 2) == files and log_rotation.excess([], 1) == []
    left = ["a.tmp", "b", "b.gz", "c"]
    assert log_rotation.leftovers(left) == ["a.tmp", "b"]


def _asking(name: str, cpu: str = "", quality: str = "Burstable", priority: int = 0) -> dict[str, Any]:
    requests = {"cpu": cpu} if cpu else {}
    spec = {"containers": [{"name": "c", "resources": {"requests": requests}}], "priority": priority}
    return {"metadata": {"name": name, "uid": name}, "spec": spec, "status": {"qosClass": quality}}


@pytest.mark.parametrize(
    ("others", "cpu", "expected"),
    [
        ([_asking("a", "1")], "1", []),  # it fits
        ([_asking("a", "1"), _asking("b", "2")], "3", ["b"]),  # the one that gives everything
        ([_asking("a", "1"), _asking("b", "1")], "4", ["a", "b"]),
        ([_asking("a", "2", "Guaranteed"), _asking("b", "2")], "2", ["b"]),  # those that were promised least
        ([_asking("a", "4", priority=2_000_000_000)], "1", None),  # as important as itself
    ],
)
def test_who_makes_room(others: list[dict[str, Any]], cpu: str, expected: list[str] | None) -> None:
    pod = _asking("critical", cpu, priority=2_000_000_000)
    wanted = preemption.missing(pod, {"cpu": "4", "pods": "110"}, others)
    chosen = preemption.victims(pod, others, wanted)
    assert (sorted(each["metadata"]["name"] for each in chosen) if chosen is not None else None) == expected


def test_logs_have_names_for_collectors(tmp_path: Path) -> None:
    log = tmp_path / "0.log"
    log.write_text("x")
    for _ in range(2):
        logs.link(tmp_path / "links", "pod", "space", "c", "id", log)
    assert (tmp_path / "links" / "pod_space_c-id.log").read_text() == "x"
    logs.drop_links(tmp_path / "links")
    assert len(list((tmp_path / "links").iterdir())) == 1
    logs.remove(str(log))
    logs.drop_links(tmp_path / "links")
    logs.drop_links(tmp_path / "absent")
    assert list((tmp_path / "links").iterdir()) == []


class _Runtime:
    """The part of a runtime that keeps images."""

    def __init__(self, **sizes: int) -> None:
        self.sizes = sizes
        self.used: list[str] = []
        self.mounted = ""

    async def list_images(self) -> list[Any]:
        return [
            SimpleNamespace(id=name, repo_tags=[], repo_digests=[], size=size, pinned=False)
            for name, size in self.sizes.items()
        ]

    async def list_containers(self) -> list[Any]:
        volumes = {label_keys.IMAGE_VOLUMES: self.mounted} if self.mounted else {}
        return [
            SimpleNamespace(image_ref=name, image=SimpleNamespace(image=name), annotations=volumes)
            for name in self.used
        ]

    async def status(self, verbose: bool = False) -> Any:
        return SimpleNamespace(info={"config": '{"sandboxImage": "pause"}'})

    async def remove_image(self, name: str) -> None:
        del self.sizes[name]


def test_images_go_until_there_is_room() -> None:
    async def check() -> None:
        clock, runtime, told = ManualClock(), _Runtime(pause=1, a=10, b=10, c=10, d=10), []

        async def disk() -> tuple[Filesystem, int]:
            used = 50 + sum(runtime.sizes.values())
            return Filesystem(100, 100 - used, used, 10, 5), used

        garbage = ImageGarbageCollector(
            runtime, clock, KubeletMetrics(), disk, lambda *event: told.append(event), high=85, low=75, least_age=60.0, longest=3600.0
        )  # type: ignore[arg-type]  # fmt: skip
        runtime.used = ["a", "d"]
        await garbage.collect()  # all are too young
        assert len(runtime.sizes) == 5 and told[0][0] == "FreeDiskSpaceFailed"
        await clock.advance(61)
        runtime.used = ["d"]
        await garbage.collect()  # 91 % is used, 75 % is to be: two go, those that were never used first
        assert sorted(runtime.sizes) == ["a", "d", "pause"] and len(told) == 1
        await garbage.collect()
        assert sorted(runtime.sizes) == ["a", "d", "pause"]  # 71 % is below the high threshold
        await clock.advance(3700)
        await garbage.collect()  # nobody has used it for an hour
        assert sorted(runtime.sizes) == ["d", "pause"]
        runtime.sizes |= {"volume": 10, "e": 10}
        runtime.mounted = "volume,other"
        await garbage.collect()
        await clock.advance(61)
        await garbage.free_all()  # what containers mount is in use as well
        assert sorted(runtime.sizes) == ["d", "pause", "volume"]
        runtime.used = []
        await garbage.free_all()
        assert sorted(runtime.sizes) == ["pause"]

    asyncio.run(check())
