"""Archives that come from containers: what their names begin with, and how a broken copy goes on."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.tools.kubectl.commands import cp
from pybernetes.tools.kubectl.connection import streaming
from pybernetes.tools.kubectl.errors import CommandError


@pytest.mark.parametrize(
    ("path", "prefix"),
    [("/a/b/", "a/b"), ("a//b", "a/b"), ("../etc/x", "etc/x"), ("../../", ""), ("..a", "..a"), (".", ".")],
)
def test_prefix(path: str, prefix: str) -> None:
    assert cp._prefix(path) == prefix


def _copied(
    monkeypatch: pytest.MonkeyPatch, retries: int, cuts: list[int]
) -> tuple[bytes, list[str], list[str]]:
    """Copy ten bytes over connections that break after so many bytes; return what came, was run and was said."""
    commands: list[str] = []
    said: list[str] = []
    data = b"0123456789"

    def execute(context: Any, pod: Any, container: str, command: list[str], *, output: Any) -> int:
        commands.append(command[-1])
        start = int(command[-1].rpartition("+")[2] or 0) - 1 if command[0] == "sh" else 0
        rest = data[max(start, 0) :]
        if cuts:
            output.buffer.write(rest[: cuts.pop(0)])
            raise CommandError("broken")
        output.buffer.write(rest)
        return 0

    monkeypatch.setattr(cp, "execute", execute)
    context: Any = SimpleNamespace(flags=SimpleNamespace(retries=retries), out=said.append)
    file = io.BytesIO()
    cp._fetch(context, {}, "c", "/it's", file)
    return file.getvalue(), commands, said


def test_a_copy_goes_on_where_it_broke(monkeypatch: pytest.MonkeyPatch) -> None:
    came, commands, said = _copied(monkeypatch, 2, [3, 4])
    assert came == b"0123456789"
    assert commands == [f"tar cf - '/it'\\''s' | tail -c+{start}" for start in (0, 4, 8)]
    assert said == ["Resuming copy at 3 bytes, retry 1/2", "Resuming copy at 7 bytes, retry 2/2"]


def test_a_copy_ends_after_its_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="broken"):
        _copied(monkeypatch, 1, [3, 4])
    with pytest.raises(CommandError, match="broken"):
        _copied(monkeypatch, 0, [3])
    assert _copied(monkeypatch, 0, [])[1] == ["/it's"]


def test_a_copy_that_is_refused_is_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def execute(*_: Any, **__: Any) -> int:
        raise streaming.Refused("unable to upgrade connection")

    monkeypatch.setattr(cp, "execute", execute)
    said: list[str] = []
    context: Any = SimpleNamespace(flags=SimpleNamespace(retries=-1), out=said.append)
    with pytest.raises(streaming.Refused):
        cp._fetch(context, {}, "c", "/a", io.BytesIO())
    assert said == []


def test_folders_keep_their_modes_where_they_are(tmp_path: Path) -> None:
    """Only files and empty folders are named in the archive, so that a folder which is there stays as it is."""
    (tmp_path / "src/sub").mkdir(parents=True)
    (tmp_path / "src/empty").mkdir()
    (tmp_path / "src/sub/a").write_text("1")
    (tmp_path / "src/link").symlink_to("sub")
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        cp._add(tar, str(tmp_path / "src"), "to")
    with tarfile.open(fileobj=io.BytesIO(buffer.getvalue())) as tar:
        assert tar.getnames() == ["to/empty", "to/link", "to/sub/a"]
        assert tar.getmember("to/link").linkname == "sub"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (":x", "filespec must match the canonical format: [[namespace/]pod:]file/path"),
        ("a/b/c:x", "filespec must match the canonical format: [[namespace/]pod:]file/path"),
        ("./w:/t", "invalid namespace \".\": [may not be '.']"),
    ],
)
def test_specs_that_are_none(text: str, message: str) -> None:
    with pytest.raises(CommandError) as caught:
        cp._Spec(text)
    assert caught.value.message == message


@pytest.mark.parametrize(("outcome", "expected"), [(0, True), (1, False), (None, False)])
def test_is_it_a_directory(outcome: int | None, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def execute(*arguments: Any, output: Any) -> int:
        if outcome is None:
            raise CommandError('"test": executable file not found in $PATH')
        return outcome

    monkeypatch.setattr(cp, "execute", execute)
    monkeypatch.setattr(cp, "_quiet", lambda context, aside: context)
    context: Any = None
    assert cp._is_directory(context, {}, "c", "/tmp/x") is expected
