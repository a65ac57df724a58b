"""The form in which messages show parts of pods."""

from pybernetes.api import schema
from pybernetes.api.core.pod.validation.go_structs import _fields, _table, difference, show
from pybernetes.api.text import go_format


def test_every_field_is_known_to_the_schema() -> None:
    spec = schema.kind_type("", "v1", "Pod").fields["spec"]
    keys = {key for _, key, _ in _fields("PodSpec")}
    assert keys == set(spec.fields)
    assert {key for _, key, _ in _fields("Container")} == set(spec.fields["containers"].item.fields)  # type: ignore[union-attr]
    for struct in _table():
        for _, _, form in _fields(struct):
            assert form in ("s", "i", "b", "q", "n", "selector", "+") or form.lstrip("*[]") in _table()


def test_show() -> None:
    assert go_format.value(show("SeccompProfile", {"localhostProfile": "<x>"})) == (
        '{"Type":"","LocalhostProfile":"\\u003cx\\u003e"}'
    )
    shown = show(
        "TopologySpreadConstraint", {"labelSelector": {"matchExpressions": [{"values": ["v"], "key": "k"}]}}
    )
    assert go_format.value(shown["LabelSelector"]) == '{"matchExpressions":[{"key":"k","values":["v"]}]}'


def test_difference() -> None:
    assert difference("Toleration", {"key": "a"}, {"key": "b"}) == (
        '@@ -1,5 +1,5 @@\n {\n- "Key": "a",\n+ "Key": "b",\n  "Operator": "",\n  "Value": "",\n  "Effect": "",\n'
    )
