"""Which file describes an object, and how one is added."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import pybernetes.tools.kubectl.describe as package
from pybernetes.lib import discover
from pybernetes.tools.kubectl.command_line.flags import parse
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.describe.describer import describe
from pybernetes.tools.kubectl.resources.discovery import Resource
from pybernetes.tools.kubectl.resources.info import Info
from tests.added_files import added_folder

WIDGET = """
GROUP = "example.com"


def describe(writer, value):
    writer.field("Size", value["spec"]["size"])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder whose files describe kinds."""
    with added_folder(package.__name__, tmp_path):
        yield tmp_path


def described(group: str) -> str:
    value = {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": "3"}}
    info = Info(Resource(group, "v1", "widgets", "widget", "Widget", True), "default", "w", value)
    return describe(Context(parse([], {})), info, events=False)


def test_a_file_describes_its_kind(folder: Path) -> None:
    (folder / "widget.py").write_text(WIDGET)
    assert described("example.com") == "Size:  3\n"


def test_a_kind_of_another_group_is_shown_field_by_field(folder: Path) -> None:
    (folder / "widget.py").write_text(WIDGET)
    text = described("other.example.com")
    assert "API Version:  other.example.com/v1\n" in text and "Spec:\n  Size:  3\n" in text


def test_every_file_names_its_group() -> None:
    names = [name for name in discover.names(package.__name__) if name != "describer"]
    assert len(names) == 36
    for name in names:
        module = discover.load(package.__name__, name)
        assert callable(module.describe) and isinstance(module.GROUP, str)


def test_nothing_commands_the_terminal(folder: Path) -> None:
    """What others wrote is shown, not obeyed (CVE-2021-25743)."""
    (folder / "widget.py").write_text(WIDGET.replace('value["spec"]["size"]', r'"a\x1b[2Jb\x9b1mc\rd"'))
    assert described("example.com") == "Size:  a^[[2Jb^[[1mc\\rd\n"
