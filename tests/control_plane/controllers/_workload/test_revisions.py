"""The templates that a workload has had."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._workload import revisions
from tests.control_plane.controllers.builders import meta, template


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
