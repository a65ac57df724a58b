"""When a server behind this one counts as available, and how that is told."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.aggregation import availability, documents, proxy, registration
from pybernetes.control_plane.apiserver.authn.user import User

API_SERVICE: dict[str, Any] = {"spec": {"service": {"namespace": "ns", "name": "api", "port": 443}}}
SERVICE = {"spec": {"ports": [{"port": 443, "name": "https"}]}}
SLICE = {"ports": [{"name": "https", "port": 8443}], "endpoints": [{"addresses": ["10.0.0.1"]}]}


@pytest.mark.parametrize(
    ("service", "slices", "reason", "message"),
    [
        (None, [], "ServiceNotFound", 'service/api in "ns" is not present'),
        (
            {"spec": {"ports": [{"port": 80}]}},
            [],
            "ServicePortError",
            'service/api in "ns" is not listening on port 443',
        ),
        (SERVICE, [], "EndpointsNotFound", 'cannot find endpointslices for service/api in "ns"'),
        (
            SERVICE,
            [{**SLICE, "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": False}}]}],
            "MissingEndpoints",
            'endpointslices for service/api in "ns" have no addresses with port name "https"',
        ),
        (SERVICE, [{**SLICE, "ports": [{"name": "other", "port": 1}]}], "MissingEndpoints", None),
    ],
)
def test_what_is_missing_is_told(service: Any, slices: list[Any], reason: str, message: str | None) -> None:
    verdict = availability.check(API_SERVICE, service, slices)
    assert verdict is not None and verdict.status == "False" and verdict.reason == reason
    assert message is None or verdict.message == message


@pytest.mark.parametrize(
    "service", [SERVICE, {"spec": {"type": "ExternalName", "externalName": "localhost"}}]
)
def test_a_service_with_endpoints_or_a_name_can_be_asked(service: Any) -> None:
    assert availability.check(API_SERVICE, service, [SLICE]) is None


def test_a_condition_keeps_its_time_while_its_status_does() -> None:
    new = availability.with_verdict(API_SERVICE, availability.PASSED, "one")
    assert new is not None and availability.is_available(new)
    assert availability.with_verdict(new, availability.PASSED, "two") is None
    worse = availability.with_verdict(new, availability.Verdict("False", "ServiceNotFound", "x"), "two")
    assert worse is not None and not availability.is_available(worse)
    assert worse["status"]["conditions"][0]["lastTransitionTime"] == "two"
    other = availability.with_verdict(worse, availability.Verdict("False", "ServicePortError", "y"), "three")
    assert other is not None and other["status"]["conditions"][0]["lastTransitionTime"] == "two"


def test_users_are_named_in_headers() -> None:
    user = User("mia", "1", ("a", "b"), {"example.com/x": ("1", "2 and 3")})
    assert proxy.identity_headers(user) == [
        (b"X-Remote-User", b"mia"),
        (b"X-Remote-Uid", b"1"),
        (b"X-Remote-Group", b"a"),
        (b"X-Remote-Group", b"b"),
        (b"X-Remote-Extra-example.com%2Fx", b"1"),
        (b"X-Remote-Extra-example.com%2Fx", b"2 and 3"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "system:\nmasters",
        "system:masters\r",
        "system:masters ",
        "\tsystem:masters",
        "system:masters\x00",
        "a\r\nb: c",
    ],
)
def test_nobody_becomes_somebody_else_by_what_a_header_cannot_hold(text: str) -> None:
    for user in (
        User(text),
        User("mia", text),
        User("mia", "", (text,)),
        User("mia", "", (), {"a": (text,)}),
    ):
        with pytest.raises(errors.StatusError) as refused:
            proxy.identity_headers(user)
        assert refused.value.code == 503


def test_lists_of_resources_become_rows() -> None:
    rows = documents.from_legacy(
        [
            {
                "name": "fish",
                "singularName": "fish",
                "namespaced": True,
                "kind": "Fish",
                "verbs": ["get"],
                "shortNames": ["f"],
            },
            {"name": "fish/status", "namespaced": True, "kind": "Fish", "verbs": ["patch"]},
            {"name": "lone/scale", "kind": "Scale", "verbs": ["get"]},
        ],
        "g",
        "v1",
    )
    kind = {"group": "g", "version": "v1", "kind": "Fish"}
    below = [{"subresource": "status", "responseKind": kind, "verbs": ["patch"]}]
    assert rows == [
        {"resource": "fish", "responseKind": kind, "scope": "Namespaced", "singularResource": "fish",
         "verbs": ["get"], "shortNames": ["f"], "subresources": below}
    ]  # fmt: skip


def test_only_objects_of_custom_resources_go_with_them() -> None:
    def obj(group: str, label: str) -> dict[str, Any]:
        labels = {registration.LABEL: label} if label else {}
        return {
            "metadata": {"name": f"v1.{group}", "labels": labels},
            "spec": {"group": group, "version": "v1"},
        }

    present = [obj("kept", "true"), obj("gone", "true"), obj("start", "onstart"), obj("users", "")]
    assert registration.surplus(present, {("kept", "v1")}) == ["v1.gone"]
