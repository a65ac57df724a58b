"""What get --watch asks for and prints."""

from __future__ import annotations

import io
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.tools.kubectl.commands import _watching
from pybernetes.tools.kubectl.output import custom_columns, name
from pybernetes.tools.kubectl.output.yaml import kyaml_printer
from pybernetes.tools.kubectl.resources.built_in import built_in
from pybernetes.tools.kubectl.resources.info import Info

OLD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web", "resourceVersion": "7"}}
NEW = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web", "resourceVersion": "9"}}


class _Client:
    def __init__(self) -> None:
        self.began: list[Any] = []

    def watch(self, resource: Any, namespace: str, **query: Any) -> Iterator[dict[str, Any]]:
        self.began.append(query["resourceVersion"])
        if query["resourceVersion"] == "0":
            yield {"type": "ADDED", "object": OLD}
        yield {"type": "MODIFIED", "object": NEW}


@pytest.mark.parametrize(
    ("named", "obj", "began"),
    [
        ("web", OLD, "0"),
        ("", {"kind": "PodList", "metadata": {"resourceVersion": "8"}, "items": [OLD]}, "8"),
    ],
)
def test_a_watch_begins_where_a_server_can_begin(
    monkeypatch: pytest.MonkeyPatch, named: str, obj: dict[str, Any], began: str
) -> None:
    """The version of an object that has not changed for long is none that a server still knows."""
    info = Info(built_in("Pod"), "default", named, obj, "")
    shown: list[tuple[str, str]] = []
    source = SimpleNamespace(all=lambda: [info], filenames=(), one_file=True, labels=None, fields=None)
    monkeypatch.setattr(_watching, "builder", lambda *_, **__: source)
    monkeypatch.setattr(
        _watching,
        "_shower",
        lambda *_: lambda value, event: shown.append((value["metadata"]["resourceVersion"], event)),
    )
    client = _Client()
    flags = SimpleNamespace(
        watch_only=False, output_watch_events=True, ignore_not_found=False, server_print=True
    )
    _watching.watch(SimpleNamespace(flags=flags, client=client), False)  # type: ignore[arg-type]
    assert client.began == [began]
    assert shown == [(obj["metadata"]["resourceVersion"], "ADDED"), ("9", "MODIFIED")]


def test_events_as_names_and_kyaml() -> None:
    out = io.StringIO()
    context: Any = SimpleNamespace(out=lambda text: out.write(text + "\n"))
    name.printer(context)({"type": "ADDED", "object": OLD})
    assert out.getvalue() == "pod/web\n"
    assert kyaml_printer.dumps({"type": "ADDED", "object": {"a": 1}}) == (
        '---\n{\n  type: "ADDED",\n  object: {\n    a: 1,\n  },\n}\n'
    )


def test_headings_of_columns_are_printed_once() -> None:
    out = io.StringIO()
    context: Any = SimpleNamespace(stdout=out, flags=SimpleNamespace(no_headers=False))
    show = custom_columns.printer(context, "custom-columns", "N:.metadata.name")
    show(OLD)
    show(NEW)
    assert out.getvalue() == "N\nweb\nweb\n"
