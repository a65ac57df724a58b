"""Files that begin as JSON, as v1.37.1 reads them: what is JSON no longer may be YAML, and errors say where."""

from __future__ import annotations

import pytest

from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.manifests import values

A, B = {"a": 1}, {"b": 2}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"a": 1}', [A]), ('{"a": 1}\n{"b": 2}', [A, B]), ('{"a": 1}\n---\nb: 2', [A, B]), ("{a: 1}", [A]),
        ('{"a": 1,}', [A]), ("{'a': 1}\n---\n{'b': 2}", [A, B]),
    ],
)  # fmt: skip
def test_documents(text: str, wanted: list[object]) -> None:
    assert list(values(text.encode(), "f")) == wanted


@pytest.mark.parametrize(
    ("text", "before", "message"),
    [
        ("{", 0, "unexpected EOF"),
        ('{"a": 1', 0, "unexpected EOF"),
        ('{"a": 1} {"b":', 1, "unexpected EOF"),
        ('{"a" 1', 0, "json: offset 6: invalid character '1' after object key"),
        ('  \n {"a":x]', 0, "json: offset 10: invalid character 'x' looking for beginning of value"),
        ('{"a": "é"} }', 1, "json: offset 13: invalid character '}' looking for beginning of value"),
        ('{"a": 1}{"b": 2} ]', 2, "invalid character ']' looking for beginning of value"),
        ('{"a": 1}{"b": 2}{', 2, "unexpected EOF"),
    ],
)  # fmt: skip
def test_errors(text: str, before: int, message: str) -> None:
    """What came before the error is told first; after two values a text is JSON for certain."""
    documents = values(text.encode(), "f")
    for _ in range(before):
        next(documents)
    with pytest.raises(CommandError) as caught:
        next(documents)
    assert caught.value.message == f"error parsing f: {message}"
