"""What workload controllers share: finding suitors, hashes, conditions, revisions; and how the manager chooses."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.errors import StatusError
from pybernetes.control_plane.controllers._controller_manager import manager
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects import conditions
from pybernetes.control_plane.controllers._workload import revisions
from pybernetes.control_plane.controllers._workload.batches import slow_start
from pybernetes.control_plane.controllers._workload.ownership import (
    anchors,
    by_plain_selector,
    by_selector,
    matcher,
    orphans,
    selector_of,
)
from pybernetes.control_plane.controllers._workload.templates import hash_of, safe, scaled, without_label
from pybernetes.lib.flags import Flag
from tests.control_plane.controllers.builders import NOW, meta, pod, stamp, template


def owner(selector: Any) -> Object:
    return {"metadata": meta("o"), "spec": {"selector": selector}}


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"app": "web"}},
        {"matchLabels": {"app": "web", "x": "y"}},
        {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
        {
            "matchLabels": {"x": "y"},
            "matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}],
        },
    ],
)
def test_a_suitor_is_found_by_an_anchor(selector: Object) -> None:
    one = pod("a", labels={"app": "web", "x": "y"})
    (anchor,) = by_selector(owner(selector))
    assert anchor in anchors(one)
    parsed = selector_of(owner(selector))
    for labels in ({"app": "web", "x": "y"}, {"app": "web"}, {"x": "y"}, {}, None):
        assert matcher(parsed)(labels) == parsed.matches(labels)
    assert matcher(parsed)({"app": "web", "x": "y"})


def test_odd_selectors_select_nothing() -> None:
    for selector in (None, {}, {"matchExpressions": [{"key": "a", "operator": "Odd"}]}):
        assert not matcher(selector_of(owner(selector)))({"app": "web"})


def test_plain_selectors() -> None:
    assert by_plain_selector(owner({"app": "web"})) == ("default/app=web",)
    assert by_plain_selector(owner(None)) == ("default/",)


def test_orphans() -> None:
    assert orphans(pod("a")) == ("default",)
    assert orphans(pod("a", owner={"metadata": meta("o")})) == ()


def test_hashes() -> None:
    assert hash_of({"a": 1, "b": 2}) == hash_of({"b": 2, "a": 1})
    assert len({hash_of("x"), hash_of("x", 0), hash_of("x", 1), hash_of("y")}) == 4
    assert safe("0123456789") == "456789bcdf"


def test_labels_are_taken_off() -> None:
    given = template(extra="x")
    assert without_label(given, "extra") == template()
    assert without_label(given, "none") is given
    assert without_label({"metadata": {"labels": {"a": "b"}}}, "a") == {"metadata": {}}


@pytest.mark.parametrize(
    ("value", "total", "up", "expected"),
    [(3, 10, True, 3), ("25%", 10, True, 3), ("25%", 10, False, 2), ("0%", 10, True, 0), (None, 10, True, 0), ("150%", 4, True, 6)],
)  # fmt: skip
def test_shares(value: Any, total: int, up: bool, expected: int) -> None:
    assert scaled(value, total, up) == expected


def test_conditions_keep_their_time() -> None:
    old = [
        {"type": "A", "status": "True", "reason": "x", "lastTransitionTime": stamp(50)},
        {"type": "B", "status": "True"},
    ]
    same = conditions.with_condition(old, conditions.condition("A", "True", "x", "new text", NOW))
    assert same == old
    other = conditions.with_condition(old, conditions.condition("A", "True", "y", "m", NOW))
    assert other[-1]["lastTransitionTime"] == stamp(50) and other[-1]["reason"] == "y"
    turned = conditions.with_condition(old, conditions.condition("A", "False", "x", "m", NOW))
    assert turned[-1]["lastTransitionTime"] == stamp()


# -- revisions -------------------------------------------------------------------------------------------


def workload(image: str = "nginx:1") -> Object:
    return {"metadata": meta("db", annotations={"note": "x"}), "spec": {"template": template(image)}}


def stored(image: str, number: int) -> Object:
    return revisions.new(workload(image), {"uid": "u"}, number, 0, revisions.HASH)


def test_revisions() -> None:
    first = revisions.choose(workload(), {"uid": "u"}, [], 0)
    assert first.is_new and first.revision["revision"] == 1
    meta_ = first.revision["metadata"]
    assert meta_["name"] == f"db-{meta_['labels'][revisions.HASH]}"
    assert meta_["annotations"] == {"note": "x"} and meta_["ownerReferences"] == [{"uid": "u"}]
    assert revisions.template_of(first.revision) == template()
    one, two = stored("nginx:1", 1), stored("nginx:2", 2)
    assert revisions.choose(workload("nginx:2"), {}, [one, two], 0).revision is two
    back = revisions.choose(workload("nginx:1"), {}, [one, two], 0)
    assert back.renumbered and back.revision["revision"] == 3
    assert back.revision["metadata"]["name"] == one["metadata"]["name"]
    third = revisions.choose(workload("nginx:3"), {}, [one, two], 0)
    assert third.is_new and third.revision["revision"] == 3


def test_what_means_nothing_makes_no_difference() -> None:
    data = revisions.data_of(workload())
    padded = {"spec": {"template": {**data["spec"]["template"], "creationTimestamp": None, "empty": {}}}}
    assert revisions.matches({"data": padded}, data)
    assert not revisions.matches({"data": padded}, revisions.data_of(workload("nginx:2")))


def test_surplus() -> None:
    known = [stored(f"nginx:{n}", n) for n in range(5)]
    live = {known[0]["metadata"]["name"]}
    assert revisions.surplus(known, live, 2) == known[1:3]
    assert revisions.surplus(known, live, 10) == []


# -- slow start ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fails_from", "called", "made"), [(100, 20, 20), (0, 1, 0), (2, 3, 2), (10, 15, 10)]
)
async def test_slow_start_stops_after_a_failure(fails_from: int, called: int, made: int) -> None:
    calls = 0

    async def make() -> None:
        nonlocal calls
        calls += 1
        if calls > fails_from:
            raise StatusError(403, "Forbidden", "no more")

    successes, error = await slow_start([make] * 20)
    assert (calls, successes, error is not None) == (called, made, fails_from < 20)


# -- the manager -----------------------------------------------------------------------------------------


def descriptors() -> dict[str, Descriptor]:
    return {
        name: Descriptor(name=name, build=lambda *_: None, identity=name, aliases=(alias,), enabled=enabled)
        for name, alias, enabled in (
            ("job-controller", "job", True), ("ttl-controller", "ttl", True),
            ("token-cleaner-controller", "tokencleaner", False),
        )
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("*", ["job-controller", "ttl-controller"]),
        ("*,tokencleaner", ["job-controller", "ttl-controller", "token-cleaner-controller"]),
        ("*,-ttl", ["job-controller"]),
        ("job", ["job-controller"]),
        ("job-controller,token-cleaner-controller", ["job-controller", "token-cleaner-controller"]),
        ("-job", []),
        ("-job,*", ["ttl-controller"]),
    ],
)
def test_selection(asked: str, expected: list[str]) -> None:
    assert [descriptor.name for descriptor in manager.select(asked.split(","), descriptors())] == expected


def test_unknown_controllers_are_refused() -> None:
    with pytest.raises(ValueError, match='"nope" is not in the list of known controllers'):
        manager.select(["*", "-nope"], descriptors())


def test_workload_controllers_have_upstreams_names() -> None:
    known = manager.descriptors()
    ours = {
        "cronjob-controller": "cronjob-controller",
        "daemonset-controller": "daemon-set-controller",
        "deployment-controller": "deployment-controller",
        "job-controller": "job-controller",
        "replicaset-controller": "replicaset-controller",
        "replicationcontroller-controller": "replication-controller",
        "statefulset-controller": "statefulset-controller",
        "ttl-after-finished-controller": "ttl-after-finished-controller",
    }
    assert {name: known[name].identity for name in ours} == ours
    assert {name for name in ours if known[name].aliases != (name.removesuffix("-controller"),)} == set()


def test_flags_agree() -> None:
    flags = {flag.name: flag for flag in manager.flags(manager.descriptors())}
    assert flags["concurrent-daemonset-syncs"].default == 2
    assert flags["concurrent-cron-job-syncs"] == Flag(
        "concurrent-cron-job-syncs", 5, flags["concurrent-cron-job-syncs"].help
    )
