"""Files are read as the API server reads objects, and errors name the field."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.what_if import manifests
from pybernetes.tools.what_if.cluster import QuestionError

POD = b"""
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers: [{name: c, image: i, resources: {limits: {cpu: 2}}}]
"""


def test_documents_lists_and_defaults() -> None:
    text = (
        POD
        + b"---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: nn}}\n---\n"
    )
    (pod_kind, pod), (namespace_kind, _) = manifests.parse(text, "here")
    assert (pod_kind.kind, namespace_kind.kind) == ("Pod", "Namespace")
    assert pod["metadata"]["namespace"] == "here"
    assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2"}
    assert pod["spec"]["schedulerName"] == "default-scheduler"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "has no objects"),
        (b"just text", "an object is needed"),
        (b"{", "yaml: "),
        (b"kind: Pod", "apiVersion: Required value"),
        (b"apiVersion: v1", "kind: Required value"),
        (b"apiVersion: v1\nkind: Pad", 'no matches for kind "Pad" in version "v1"'),
        (b"apiVersion: v1\nkind: Pod\nmetadata: {}", "metadata.name: Required value"),
        (POD.replace(b"{name: p}", b'{name: "P\\e[2J"}'), "metadata.name: Invalid value"),
        (POD.replace(b"{name: p}", b"{name: p, labels: {a: '-'}}"), "metadata.labels: Invalid value"),
        (POD.replace(b"limits", b"limit"), 'unknown field "spec.containers[0].resources.limit"'),
        (POD.replace(b"name: c", b"name: C"), "spec.containers[0].name: Invalid value"),
        (POD.replace(b"image: i, ", b""), "spec.containers[0].image: Required value"),
        (POD.replace(b"cpu: 2", b"cpu: -2"), "spec.containers[0].resources.limits[cpu]"),
        (POD.replace(b"cpu: 2", b"cpu: many"), "quantities must match"),
        (POD.replace(b"[{name: c", b"{[{name: c"), "yaml: "),
    ],
)
def test_errors_name_the_field(text: bytes, words: str) -> None:
    with pytest.raises(QuestionError) as caught:
        manifests.parse(text, "default")
    assert words in str(caught.value)


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: POD + text.encode()))
def test_any_text_is_read_or_refused(text: bytes) -> None:
    try:
        manifests.parse(text, "default")
    except QuestionError:
        pass


def test_a_missing_file() -> None:
    with pytest.raises(QuestionError, match="cannot read /nowhere/at/all: No such file"):
        manifests.read("/nowhere/at/all", "default")
