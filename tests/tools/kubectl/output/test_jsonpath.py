"""JSONPath templates as text."""

from __future__ import annotations

import pytest

from pybernetes.tools.kubectl.output.jsonpath import PathTemplate

POD = {
    "metadata": {"name": "web", "labels": {"a.b/c": "1"}},
    "spec": {"containers": [{"name": "one", "ports": [80, 443]}, {"name": "two", "n": 3}]},
    "nothing": None,
}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{.metadata.name}", "web"),
        ("{.spec.containers[*].name}", "one two"),
        ("{.spec.containers[0].name}", "one"),
        ("{.spec.containers[-1].name}", "two"),
        ("{.spec.containers[0:1].name}", "one"),
        ('{.spec.containers[?(@.name=="two")].n}', "3"),
        ("{.spec.containers[?(@.n)].name}", "two"),
        ("{.spec.containers[?(@.n>2)].name}", "two"),
        ("{range .spec.containers[*]}{.name}{'\\n'}{end}", "one\ntwo\n"),
        ("{..name}", "web one two"),
        ("{.metadata.labels.a\\.b/c}", "1"),
        ("{.metadata['name']}", "web"),
        ("{.metadata['name', 'labels']}", 'web {"a.b/c":"1"}'),
        ("{.spec.containers[0].ports}", "[80,443]"),
        ("name: {.metadata.name}!", "name: web!"),
        ("{.nope}", ""),
        ("{.nothing}", "null"),
        ("{$.metadata.name}", "web"),
        ('{"a\\tb"}', "a\tb"),
        ("{.spec.containers[*].ports[1]}", "443"),
    ],
)
def test_jsonpath(template: str, expected: str) -> None:
    value = POD if "ports[1]" not in template else {"spec": {"containers": [POD["spec"]["containers"][0]]}}  # type: ignore[index]
    assert PathTemplate(template).text(value) == expected
