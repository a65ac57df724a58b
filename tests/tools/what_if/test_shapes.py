"""Shapes of nodes, and what is wrong with some."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pybernetes.tools.what_if import shapes
from pybernetes.tools.what_if.cluster import QuestionError
from tests.scheduling.builders import node
from tests.tools.what_if.clusters import cluster


def test_all_parts() -> None:
    text = "cpu=8,memory=32Gi,pods=20,example.com/gpu=2,label:topology.kubernetes.io/zone=a,taint:gpu=only:NoSchedule"
    shape = shapes.parse(text)
    assert shape.amounts == {"cpu": "8", "memory": "32Gi", "pods": "20", "example.com/gpu": "2"}
    obj = shape.node("x")
    assert obj["metadata"]["labels"]["topology.kubernetes.io/zone"] == "a"
    assert obj["metadata"]["labels"]["kubernetes.io/hostname"] == "x"
    assert obj["spec"]["taints"] == [{"key": "gpu", "value": "only", "effect": "NoSchedule"}]


def test_names_are_free() -> None:
    made = shapes.parse("cpu=1,memory=1Gi").nodes(cluster([node("new-0"), node("new-2")]), 2)
    assert [new.name for new in made] == ["new-1", "new-3"]
    assert made[0].allowed_pods == 110


@given(
    st.text(max_size=60)
    | st.text("cpu=memory,1e9GilabtinNoSchedule:/-.", max_size=40).map("cpu=1,memory=1,".__add__)
)
@example("cpu=1e30,memory=1e30,pods=1e30")
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        shape = shapes.parse(text)
    except QuestionError as error:
        assert str(error).startswith("--shape: ")
    else:
        cluster([]).snapshot.set_node(shape.nodes(cluster([]), 1)[0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cpu=8", "--shape: memory: Required value"),
        ("", "--shape: cpu: Required value"),
        ("cpu", "--shape: cpu: NAME=VALUE is needed"),
        ("cpu=eight,memory=1Gi", "--shape: cpu: Invalid value: 'eight'"),
        ("cpu=-1,memory=1Gi", "--shape: cpu: Invalid value: '-1': must be greater than or equal to 0"),
        ("cpu=1,memory=1Gi,zone=a", "--shape: zone: no resource of a node"),
        ("cpu=1,memory=1Gi,label:-=a", "--shape: Invalid key '-'"),
        ("cpu=1,memory=1Gi,label:a=-", "--shape: label:a: Invalid value"),
        ("cpu=1,memory=1Gi,taint:a=b", "--shape: taint:a: Unsupported effect 'b'"),
    ],
)
def test_errors_name_the_part(text: str, words: str) -> None:
    with pytest.raises(QuestionError) as caught:
        shapes.parse(text)
    assert words in str(caught.value)
