"""Server-side apply: ownership, conflicts, removal, order and the errors, as Kubernetes v1.37 has them."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import schema
from pybernetes.api.apply import apply as ssa
from pybernetes.api.apply import field_sets, fields, managed_fields
from pybernetes.api.apply.merge import with_named_fields
from pybernetes.api.errors import StatusError
from pybernetes.api.field import MAX_ERRORS
from pybernetes.api.resource import Object

DEPLOYMENT = schema.kind_type("apps", "v1", "Deployment")


def deployment(*containers: Any, **spec: Any) -> Object:
    if containers:
        spec["template"] = {"spec": {"containers": list(containers)}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


def put(obj: Object, entries: list[Any]) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "managedFields": entries}}


def apply(live: Any, config: Any, manager: str = "me", now: str = "t1", **more: Any) -> Object:
    """Return the object after an apply, with its managedFields."""
    before = copy.deepcopy((live, config))
    obj, entries = ssa.apply(
        live, config, DEPLOYMENT, kind="Deployment", api_version="apps/v1", manager=manager, now=now,
        reset={"f:status": {}}, **more,
    )  # fmt: skip
    assert (live, config) == before
    return put(obj, entries)


def update(live: Any, new: Any, manager: str = "writer", now: str = "t2") -> Object:
    return put(
        new, managed_fields.update(live, new, DEPLOYMENT, manager=manager, api_version="apps/v1", now=now)
    )


def owned(obj: Object, manager: str) -> Object:
    return next((e["fieldsV1"] for e in obj["metadata"]["managedFields"] if e["manager"] == manager), {})


def names(obj: Object) -> list[str]:
    return [item["name"] for item in obj["spec"]["template"]["spec"]["containers"]]


def test_create_owns_what_was_applied() -> None:
    obj = apply(None, deployment({"name": "a", "image": "i"}, replicas=1))
    assert obj["metadata"]["managedFields"] == [
        {
            "manager": "me",
            "operation": "Apply",
            "apiVersion": "apps/v1",
            "time": "t1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:spec": {
                    "f:replicas": {},
                    "f:template": {
                        "f:spec": {"f:containers": {'k:{"name":"a"}': {".": {}, "f:image": {}, "f:name": {}}}}
                    },
                }
            },
        }
    ]


def test_what_is_no_longer_named_goes() -> None:
    live = apply(None, deployment({"name": "a", "image": "i", "args": ["x"]}, {"name": "b"}, replicas=1))
    obj = apply(live, deployment({"name": "a", "image": "i"}), now="t2")
    assert obj["spec"] == {"template": {"spec": {"containers": [{"name": "a", "image": "i"}]}}}


def test_what_others_own_stays() -> None:
    live = apply(None, deployment({"name": "a", "image": "i"}, replicas=1))
    live = apply(live, deployment({"name": "a"}, replicas=1), "other")
    obj = apply(live, deployment({"name": "a"}), now="t2")
    assert obj["spec"]["replicas"] == 1
    assert "image" not in obj["spec"]["template"]["spec"]["containers"][0]
    assert not field_sets.has(owned(obj, "me"), "f:spec", "f:replicas")


def test_an_item_stays_while_somebody_else_owns_it() -> None:
    live = apply(None, deployment({"name": "a", "image": "i"}, {"name": "b", "image": "j"}))
    shared = apply(live, deployment({"name": "b", "command": ["x"]}), "other")
    obj = apply(shared, deployment({"name": "a", "image": "i"}), now="t3")
    assert obj["spec"]["template"]["spec"]["containers"][1] == {"name": "b", "command": ["x"]}


def test_an_item_goes_although_somebody_else_owns_something_in_it() -> None:
    live = apply(None, deployment({"name": "a", "image": "i"}, {"name": "b", "image": "j"}))
    new = copy.deepcopy(live)
    new["spec"]["template"]["spec"]["containers"][1]["command"] = ["x"]
    obj = apply(update(live, new), deployment({"name": "a", "image": "i"}), now="t3")
    assert names(obj) == ["a"]
    assert owned(obj, "writer") == {}


def test_same_value_is_shared_without_conflict() -> None:
    live = apply(None, deployment(replicas=1))
    obj = apply(live, deployment(replicas=1), "other", "t2")
    assert owned(obj, "me") == owned(obj, "other") == {"f:spec": {"f:replicas": {}}}
    # Nothing changed in the object, so the newcomer's entry has no time.
    assert [entry.get("time") for entry in obj["metadata"]["managedFields"]] == [None, "t1"]


def test_applying_again_changes_nothing() -> None:
    live = apply(None, deployment({"name": "a", "image": "i"}, replicas=1))
    assert apply(live, deployment({"name": "a", "image": "i"}, replicas=1), now="t2") == live


def test_one_conflict() -> None:
    live = update(None, deployment(replicas=1), "kubectl-create")
    with pytest.raises(StatusError) as caught:
        apply(live, deployment(replicas=2))
    error = caught.value
    assert (error.code, error.reason) == (409, "Conflict")
    assert error.message == (
        'Apply failed with 1 conflict: conflict with "kubectl-create" using apps/v1: .spec.replicas'
    )
    assert error.details == {
        "causes": [
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "kubectl-create" using apps/v1',
                "field": ".spec.replicas",
            }
        ]
    }


def test_several_conflicts_are_grouped_by_owner() -> None:
    live = apply(None, deployment({"name": "a", "image": "i"}, replicas=1), "one")
    live = apply(live, deployment(replicas=1), "two")
    with pytest.raises(StatusError) as caught:
        apply(live, deployment({"name": "a", "image": "j"}, replicas=2))
    assert caught.value.message == (
        'Apply failed with 3 conflicts: conflicts with "one":\n- .spec.replicas\n'
        '- .spec.template.spec.containers[name="a"].image\nconflicts with "two":\n- .spec.replicas'
    )


def test_force_takes_the_field() -> None:
    live = apply(None, deployment(replicas=1, paused=True), "one")
    obj = apply(live, deployment(replicas=2), force=True, now="t2")
    assert obj["spec"] == {"replicas": 2, "paused": True}
    assert owned(obj, "one") == {"f:spec": {"f:paused": {}}}
    assert owned(obj, "me") == {"f:spec": {"f:replicas": {}}}


def test_first_apply_to_an_untracked_object() -> None:
    live = deployment({"name": "a", "image": "i"}, replicas=1)
    with pytest.raises(StatusError) as caught:
        apply(live, deployment(replicas=2))
    assert 'conflict with "before-first-apply" using apps/v1: .spec.replicas' in caught.value.message
    obj = apply(live, deployment(replicas=2), force=True)
    assert [entry["manager"] for entry in obj["metadata"]["managedFields"]] == ["me", "before-first-apply"]


@pytest.mark.parametrize(
    ("live", "applied", "merged"),
    [
        ("ab", "ab", "ab"),
        ("ab", "ba", "ba"),
        ("ab", "c", "abc"),
        ("abc", "cd", "abcd"),
        ("abc", "xb", "axbc"),
        ("abc", "ca", "bca"),
        ("abcd", "dxa", "bcdxa"),
        ("abc", "xcy", "abxcy"),
        ("a", "bac", "bac"),
    ],
)
def test_order_of_merged_lists(live: str, applied: str, merged: str) -> None:
    before = update(None, deployment(*({"name": name} for name in live)))
    obj = apply(before, deployment(*({"name": name} for name in applied)))
    assert "".join(names(obj)) == merged


def test_ports_with_the_default_protocol_are_the_same_item() -> None:
    port = {"containerPort": 80}
    live = update(None, deployment({"name": "a", "ports": [{**port, "protocol": "TCP"}]}))
    obj = apply(live, deployment({"name": "a", "ports": [{**port, "name": "http"}]}))
    (merged,) = obj["spec"]["template"]["spec"]["containers"][0]["ports"]
    assert merged == {"containerPort": 80, "protocol": "TCP", "name": "http"}


def test_kubectl_takes_over_its_own_client_side_apply() -> None:
    last = deployment({"name": "a", "image": "i"}, replicas=1)
    live = copy.deepcopy(last)
    live["metadata"]["annotations"] = {ssa.LAST_APPLIED: json.dumps(last)}
    live = update(None, live, "kubectl-client-side-apply")
    wanted = deployment({"name": "a", "image": "j"}, replicas=2)
    with pytest.raises(StatusError):
        apply(live, wanted, "somebody")
    obj = apply(live, wanted, "kubectl")
    assert obj["spec"] == wanted["spec"]
    assert json.loads(obj["metadata"]["annotations"][ssa.LAST_APPLIED]) == wanted
    # What changed since the last client-side apply is still a conflict.
    changed = copy.deepcopy(live)
    changed["spec"]["replicas"] = 7
    changed = update(live, changed, "autoscaler")
    with pytest.raises(StatusError) as caught:
        apply(changed, wanted, "kubectl")
    assert caught.value.message.endswith('conflict with "autoscaler" using apps/v1: .spec.replicas')


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "Pod"}, "invalid object type: apps/v1, Kind=Pod"),
        ({"apiVersion": "v1"}, "invalid object type: /v1, Kind=Deployment"),
        ({"apiVersion": None, "kind": None}, "invalid object type: /, Kind="),
        ({"metadata": {"managedFields": []}}, "metadata.managedFields must be nil"),
        ({"spec": {"foo": 1}}, ".spec.foo: field not declared in schema"),
        ({"spec": {"replicas": "x"}}, ".spec.replicas: expected numeric (int or float), got string"),
        ({"spec": {"template": []}}, ".spec.template: expected map, got &{[]}"),
        ({"spec": {"paused": "x"}}, ".spec.paused: expected boolean, got &{x}"),
        (
            {"metadata": {"name": "d", "labels": {"a": {"b": 1}}}},
            '.metadata.labels.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"b":1}}',
        ),
        ({"metadata": {"name": "d", "finalizers": "a"}}, ".metadata.finalizers: expected list, got &{a}"),
        (
            {"metadata": {"name": "d", "finalizers": ["a", "a"]}},
            '.metadata.finalizers: duplicate entries for key [="a"]',
        ),
        (
            {"metadata": {"name": "d", "finalizers": [None]}},
            ".metadata.finalizers: element 0: associative list without keys has an element that's an explicit null",
        ),
        (
            deployment({"name": "c"}, {"name": "c"}),
            '.spec.template.spec.containers: duplicate entries for key [name="c"]',
        ),
        (
            deployment(None),
            ".spec.template.spec.containers: element 0: "
            "associative list with keys may not have a null element",
        ),
        ({"spec": {"replicas": "x", "paused": 1}}, "errors:\n  .spec.replicas: expected numeric (int or float), "
         "got string\n  .spec.paused: expected boolean, got &{1}"),
    ],
)  # fmt: skip
def test_errors(change: Object, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        apply(None, {**deployment(), **change})
    if message[0] == "." or message.startswith("errors"):
        message = f"failed to create typed patch object (/d; apps/v1, Kind=Deployment): {message}"
    assert (caught.value.code, caught.value.message) == (400, message)


# Nothing empty: an empty list or struct does not outlast the decoding of the result.
ENV = st.lists(st.sampled_from("AB"), unique=True, min_size=1).map(
    lambda letters: [{"name": n} for n in letters]
)
CONTAINER = st.fixed_dictionaries(
    {"image": st.sampled_from("ij")},
    optional={
        "args": st.lists(st.sampled_from("xyz"), min_size=1, max_size=2),
        "env": ENV,
        "resources": st.sampled_from([{"limits": {"cpu": "1"}}, {"requests": {"cpu": "1"}}]),
    },
)
CONFIGS = st.builds(
    lambda containers, **spec: deployment(*({"name": name, **c} for name, c in containers.items()), **spec),
    st.dictionaries(st.sampled_from("abc"), CONTAINER, max_size=3),
    replicas=st.integers(0, 2),
    paused=st.booleans(),
)


@given(CONFIGS, CONFIGS, CONFIGS)
def test_ownership_is_exactly_what_was_applied(first: Any, second: Any, third: Any) -> None:
    obj = apply(None, first, "one")
    obj = apply(obj, second, "two", force=True)
    obj = apply(obj, third, "one", force=True, now="t2")
    claimed = field_sets.difference(fields.of(third, DEPLOYMENT), managed_fields.STRIPPED)
    assert owned(obj, "one") == claimed
    # Everything that is claimed is there, with the value that was applied.
    again = apply(obj, third, "one", now="t3")
    assert again == obj
    # Nobody owns a field that the object does not have.
    everything = with_named_fields(fields.of(obj, DEPLOYMENT), DEPLOYMENT)
    for entry in obj["metadata"]["managedFields"]:
        assert field_sets.difference(entry["fieldsV1"], everything) == {}


@given(CONFIGS, CONFIGS)
def test_a_lone_applier_gets_what_it_applied(first: Any, second: Any) -> None:
    obj = apply(apply(None, first), second)
    assert _emptied(obj["spec"]) == _emptied(second["spec"])


def _emptied(value: Any) -> Any:
    """Return the value without what is empty: an object that only held removed fields may stay or go."""
    if isinstance(value, dict):
        return {key: inner for key, item in value.items() if (inner := _emptied(item)) not in ({}, [], None)}
    return [_emptied(item) for item in value] if isinstance(value, list) else value


@given(CONFIGS, CONFIGS)
def test_updates_leave_the_sets_of_others_true(first: Any, second: Any) -> None:
    obj = apply(None, first, "one")
    obj = update(obj, {**second, "metadata": {"name": "d"}})
    changes = fields.compare(first["spec"], second["spec"], DEPLOYMENT.fields["spec"])
    touched = field_sets.union(field_sets.union(changes.added, changes.modified), changes.removed)
    assert field_sets.intersection(owned(obj, "one").get("f:spec", {}), touched) == {}


def test_a_report_of_conflicts_has_a_bound() -> None:
    """The message counts all of them, and names so many as a report may have."""
    mine = {f"k{number}": "a" for number in range(MAX_ERRORS)}
    live: Any = None
    for manager in ("one", "two"):
        live = apply(live, deployment(template={"metadata": {"labels": mine}}), manager)
    with pytest.raises(StatusError) as caught:
        apply(live, deployment(template={"metadata": {"labels": dict.fromkeys(mine, "b")}}), "three")
    text = f'Apply failed with {2 * MAX_ERRORS} conflicts: conflicts with "one":\n- .spec.template.metadata.labels.k0\n'
    assert caught.value.message.startswith(text)
    assert caught.value.details is not None and len(caught.value.details["causes"]) == MAX_ERRORS
