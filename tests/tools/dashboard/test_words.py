"""The texts of the pages: every one of them has its translation, with the same values in it."""

from __future__ import annotations

import re

from pybernetes.tools.dashboard.pages import FRONTEND

_TEXT = r'"((?:[^"\\]|\\.)*)"'


def _used() -> set[str]:
    files = (path for path in FRONTEND.rglob("*.js") if path.parent.name != "languages")
    return {text for path in files for text in re.findall(rf"\bt\(\s*{_TEXT}", path.read_text())}


def test_every_text_is_translated_and_nothing_else_is() -> None:
    source = (FRONTEND / "languages" / "ja.js").read_text()
    japanese = dict(re.findall(rf"^  {_TEXT}: {_TEXT},$", source, re.MULTILINE))
    used = _used()
    assert len(used) > 50
    assert used - set(japanese) == set()
    assert set(japanese) - used == set()
    for text, translated in japanese.items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", translated)), text


def test_texts_are_literals() -> None:
    """A text that is put together from parts would be found in no table."""
    for path in FRONTEND.rglob("*.js"):
        for use in re.findall(r"(?<![\w.])t\((.)", path.read_text()):
            assert use == '"' or path.name == "words.js", path
