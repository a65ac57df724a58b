"""What an edited text holds."""

from __future__ import annotations

import pytest

from pybernetes.tools.kubectl.commands._edit_session import _objects
from pybernetes.tools.kubectl.errors import CommandError

_ONE = "# a comment\napiVersion: v1\nkind: ConfigMap\n"


def test_objects() -> None:
    assert _objects(_ONE, False) == [{"apiVersion": "v1", "kind": "ConfigMap"}]
    items = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n"
    assert _objects(items, True) == [{"apiVersion": "v1", "kind": "Pod"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "EOF"), ("# only a comment\n", "EOF"), ("kind: Pod\n", "apiVersion not set"), ("apiVersion: v1\n", "kind not set")],
)  # fmt: skip
def test_what_is_edited_again(text: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        _objects(text, False)
