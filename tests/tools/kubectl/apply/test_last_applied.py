"""What is remembered of an object that was applied."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubectl.apply.last_applied import ANNOTATION, remembered


def test_what_was_remembered_once_is_remembered_again() -> None:
    value: dict[str, Any] = {"kind": "ConfigMap", "metadata": {"name": "a"}}
    assert remembered(value, False) is value
    text = '{"kind":"ConfigMap","metadata":{"annotations":{},"name":"a"}}\n'
    first = remembered(value, True)
    assert first["metadata"]["annotations"] == {ANNOTATION: text}
    changed = {**first, "data": {"x": "y"}}
    again = remembered(changed, False)["metadata"]["annotations"][ANNOTATION]
    assert again == text.replace('{"kind', '{"data":{"x":"y"},"kind')
