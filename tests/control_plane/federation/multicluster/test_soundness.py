"""What a member says of its services, and what of it is passed on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.federation.multicluster import imports
from pybernetes.control_plane.federation.multicluster.exports import Export, conditions, shared
from pybernetes.control_plane.federation.multicluster.soundness import (
    is_sound_export,
    is_sound_service,
    is_sound_slice,
)
from tests.control_plane.federation.multicluster.test_exports import export, port
from tests.control_plane.federation.multicluster.test_imports import slice_of

PORT = {"name": "http", "port": 80, "protocol": "TCP"}


@pytest.mark.parametrize(
    ("spec", "sound"),
    [
        ({"ports": [PORT]}, True), ({}, True), (None, False), ([], False),
        ({"ports": [PORT], "clusterIP": "None", "ipFamilies": ["IPv6", "IPv4"]}, True),
        ({"ports": [{"port": "80"}]}, False), ({"ports": [{"port": 0}]}, False), ({"ports": [{"port": True}]}, False),
        ({"ports": [{**PORT, "name": "A B"}]}, False), ({"ports": [{**PORT, "protocol": "X"}]}, False), ({"ports": [PORT] * 101}, False),
        ({"ports": {"port": 1}}, False), ({"ipFamilies": ["IPv5"]}, False), ({"ipFamilies": [{}]}, False),
        ({"sessionAffinity": "None", "internalTrafficPolicy": "Local", "trafficDistribution": "PreferClose"}, True),
        ({"sessionAffinity": "Always"}, False), ({"trafficDistribution": {"a": "b"}}, False),
        ({"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10}}}, True), ({"sessionAffinityConfig": {"clientIP": 5}}, False),
    ],
)  # fmt: skip
def test_services(spec: Any, sound: bool) -> None:
    assert is_sound_service({"spec": spec}) is sound


@pytest.mark.parametrize(
    ("spec", "sound"),
    [
        ({}, True), ({"exportedLabels": {"a": "b"}, "exportedAnnotations": {"a.b/c": "any text: ü"}}, True),
        ({"exportedLabels": {"a": "not a label"}}, False), ({"exportedLabels": {"/": "b"}}, False), ({"exportedLabels": ["a"]}, False),
        ({"exportedAnnotations": {"a": 5}}, False), ({"exportedAnnotations": {"a": "x" * 70_000}}, False), ("text", False),
    ],
)  # fmt: skip
def test_exports(spec: Any, sound: bool) -> None:
    assert is_sound_export({"metadata": {}, "spec": spec}) is sound


@pytest.mark.parametrize(
    ("changes", "sound"),
    [
        ({}, True), ({"addressType": "FQDN"}, False), ({"addressType": None}, False), ({"addressType": "IPv6"}, False),
        ({"endpoints": [{"addresses": ["127.0.0.1"]}]}, False), ({"endpoints": [{"addresses": ["169.254.169.254"]}]}, False),
        ({"endpoints": [{"addresses": ["224.0.0.1"]}]}, False), ({"endpoints": [{"addresses": ["0.0.0.0"]}]}, False),
        ({"endpoints": [{"addresses": []}]}, False), ({"endpoints": [{"addresses": ["10.0.0.1"], "hostname": "a.b"}]}, False),
        ({"endpoints": [{"addresses": ["10.0.0.1"], "conditions": 5}]}, False), ({"endpoints": 5}, False), ({"endpoints": None}, True),
        ({"endpoints": [{"addresses": ["10.0.0.1"]}] * 1001}, False), ({"ports": [{"port": 99999}]}, False),
    ],
)  # fmt: skip
def test_slices(changes: Any, sound: bool) -> None:
    assert is_sound_slice({**slice_of("a", "10.1.0.1"), **changes}) is sound


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        "ports",
        "ipFamilies",
        "clusterIP",
        "sessionAffinity",
        "sessionAffinityConfig",
        "type",
        "internalTrafficPolicy",
    ]
)


@given(
    st.dictionaries(FIELDS, JSON),
    st.dictionaries(st.sampled_from(["exportedLabels", "exportedAnnotations"]), JSON),
)
def test_whatever_one_member_says_the_service_of_others_stays(spec: Any, exported: Any) -> None:
    liar = Export(
        "liar",
        {"metadata": {"name": "web", "creationTimestamp": "0001-01-01T00:00:00Z"}, "spec": exported},
        {"spec": spec},
    )
    honest = export("one", ports=[port("http", 80)])
    service = shared([liar, honest])
    assert service is not None and "one" in service.clusters
    assert conditions(liar, service, "now") and conditions(honest, service, "now")
    imports.service_import("team", "web", service, imports.derived_service("team", "web", service))


@given(st.dictionaries(st.sampled_from(["addressType", "endpoints", "ports"]), JSON))
def test_whatever_slices_one_member_has_those_of_others_are_passed_on(changes: Any) -> None:
    service = shared([export("one", ports=[port("http", 80)])])
    assert service is not None
    sources = {"liar": [{**slice_of("x", "10.9.0.1"), **changes}], "one": [slice_of("a", "10.1.0.1")]}
    made = imports.slices("team", "web", service, sources)
    assert any(obj["endpoints"][0]["addresses"] == ["10.1.0.1"] for obj in made.values() if obj["endpoints"])
