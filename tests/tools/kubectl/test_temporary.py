"""Names of temporary files, which scripts look for by pattern, and what becomes of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pybernetes.tools.kubectl import temporary


def test_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    handle, path = temporary.file("kubectl-edit-", ".yaml")
    os.close(handle)
    assert re.fullmatch(rf"{re.escape(str(tmp_path))}/kubectl-edit-\d+\.yaml", path)
    assert os.stat(path).st_mode & 0o777 == 0o600
    with temporary.folder("LIVE-") as folder:
        assert re.fullmatch(r"LIVE-\d+", os.path.basename(folder))
        (Path(folder) / "a").write_text("b")
    assert not os.path.exists(folder)


def test_a_name_that_is_taken_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    numbers = iter([b"\0\0\0\1", b"\0\0\0\1", b"\0\0\0\2"])
    monkeypatch.setattr(os, "urandom", lambda size: next(numbers))
    for expected in ("x-1", "x-2"):
        handle, path = temporary.file("x-", "")
        os.close(handle)
        assert os.path.basename(path) == expected
