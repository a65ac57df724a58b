from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.api.text import yaml_reader
from pybernetes.tools.federation import text
from pybernetes.tools.federation.errors import FederationError

# What a reader of YAML 1.1, or Go's, takes for something else without quotes; and what needs none.
WORDS = [
    "y", "n", "on", "Off", "yes", "null", "~", "", "0x10", "010", "1_000", "1e3", "12:30:45", "2026-01-02", "plain", "a: b",
    "# no comment", "- item", "two\nlines\n", "&anchor", " space ", "\u00e9\u2028", "%directive", "{", "=",
]  # fmt: skip


def test_what_is_written_is_read_as_it_was() -> None:
    data = {word: word for word in WORDS}
    written = text.documents(("v1", "ConfigMap", {"data": data, "second": [data, data]}))
    assert written.startswith("---\napiVersion: v1\n")
    value, _ = yaml_reader.loads(written.encode())
    assert value == {"apiVersion": "v1", "kind": "ConfigMap", "data": data, "second": [data, data]}
    assert "\n  plain: plain\n" in written and '\n  "y": "y"\n' in written


def test_files_are_read_as_kubectl_reads_them(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(
        "# nothing yet\n---\nkind: A\ndata: {when: 2026-01-02, on: on, mode: 0644}\n--- # more\nkind: BList\nitems: [{kind: B}]\n"
    )
    objects: list[Any] = list(text.read(file))
    assert objects == [
        {"kind": "A", "data": {"when": "2026-01-02", "true": True, "mode": 420}},
        {"kind": "B"},
    ]


@pytest.mark.parametrize("content", ["[", "a: 1", "kind: 5", "- kind", "kind: [A]"])
def test_what_is_no_object_is_said(tmp_path: Path, content: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(content)
    with pytest.raises(FederationError, match="Failed to load yaml"):
        list(text.read(file))
