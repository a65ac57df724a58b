"""Which definition gets which names."""

from __future__ import annotations

from typing import Any

from pybernetes.api.customresource import names
from pybernetes.api.resource import Object

NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def definition(plural: str, kind: str, **more: Any) -> Object:
    wanted = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List", **more}
    return {"metadata": {"name": f"{plural}.example.com"}, "spec": {"group": "example.com", "names": wanted}}


def test_names_are_accepted_and_the_definition_is_established() -> None:
    settled = names.settle(definition("widgets", "Widget"), [], NOW)
    assert settled["status"]["acceptedNames"] == settled["spec"]["names"]
    assert names.is_true(settled, "NamesAccepted") and names.is_true(settled, "Established")
    assert names.settle(settled, [], LATER) == settled


def test_who_comes_second_waits() -> None:
    first = names.settle(definition("widgets", "Widget", shortNames=["w"]), [], NOW)
    second = names.settle(definition("others", "Widget", shortNames=["w", "o"]), [first], NOW)
    accepted = names.find(second, "NamesAccepted")
    assert accepted is not None
    assert (accepted["status"], accepted["reason"]) == ("False", "ListKindConflict")
    assert names.find(second, "Established")["reason"] == "NotAccepted"  # type: ignore[index]
    assert second["status"]["acceptedNames"] == {"plural": "others"}
    later = names.settle(second, [], LATER)
    assert names.is_true(later, "Established")
    assert later["status"]["acceptedNames"]["shortNames"] == ["w", "o"]


def test_an_established_one_stays_so_when_a_new_name_is_taken() -> None:
    first = names.settle(definition("widgets", "Widget", shortNames=["w"]), [], NOW)
    second = names.settle(definition("others", "Other"), [first], NOW)
    second["spec"]["names"]["shortNames"] = ["w"]
    second = names.settle(second, [first], LATER)
    assert names.find(second, "NamesAccepted")["message"] == '"w" is already in use'  # type: ignore[index]
    assert names.is_true(second, "Established")


def test_deletion_waits_for_the_objects() -> None:
    obj = names.settle(definition("widgets", "Widget"), [], NOW)
    names.begin_deletion(obj, LATER)
    assert obj["metadata"]["finalizers"] == [names.FINALIZER]
    assert names.find(obj, "Terminating")["reason"] == "InstanceDeletionPending"  # type: ignore[index]
