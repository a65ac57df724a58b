"""Answers as YAML: the same whether they are written in one piece or in many."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from pybernetes.control_plane.apiserver.codec import yaml_writer

ODD = "\x7f\x85\u2028\ufeff\t\n\"'\\ é 🎉 : # - yes 0x1 \x00"
ITEM = {"metadata": {"name": "a", "labels": {"yes": "on", "n": "1"}}, "list": [1, 2.5, None, True], "t": ODD}


@pytest.mark.parametrize(
    "value",
    [
        ITEM,
        [ITEM],
        {"apiVersion": "v1", "items": [ITEM] * 300, "kind": "List", "metadata": {}},
        {"items": [], "on": {f"k{number}": ODD for number in range(2000)}, "a: b": [ITEM] * 100, "empty": {}},
        {"items": [{"large": [ITEM] * 200}, ITEM], "text": ODD * 9000, "none": None},
    ],
)
def test_readers_find_what_was_written(value: Any) -> None:
    assert yaml.safe_load(yaml_writer.dumps(value)) == value


def test_lists_of_many_small_items_look_as_if_written_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"apiVersion": "v1", "items": [ITEM] * 300, "kind": "List", "metadata": {"resourceVersion": "1"}}
    pieces = yaml_writer.dumps(value)
    monkeypatch.setattr(yaml_writer, "_PIECE", 1 << 30)
    assert yaml_writer.dumps(value) == pieces


def test_no_piece_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library held everybody up for 0.8 s to write a pod of a megabyte."""
    written: list[int] = []
    write = yaml_writer._written

    def counting(value: Any) -> str:
        text = write(value)
        written.append(len(text))
        return text

    monkeypatch.setattr(yaml_writer, "_written", counting)
    yaml_writer.dumps({"items": [{"large": [ITEM] * 1000}, *[ITEM] * 1000], "data": {"a": "x" * 1_000_000}})
    assert len(written) > 1000 and max(written) < 100_000
