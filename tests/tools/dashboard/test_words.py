"""The texts of the pages: every one of them has its translation, with the same values in it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from pybernetes.tools import why
from pybernetes.tools.dashboard.pages import FRONTEND

_TEXT = r'"((?:[^"\\]|\\.)*)"'


def _used() -> set[str]:
    files = (path for path in FRONTEND.rglob("*.js") if path.parent.name != "languages")
    return {text for path in files for text in re.findall(rf"\bt\(\s*{_TEXT}", path.read_text())}


def _table(name: str) -> dict[str, str]:
    source = (FRONTEND / "languages" / name).read_text()
    return dict(re.findall(rf"^  {_TEXT}: {_TEXT},$", source, re.MULTILINE))


def test_every_text_is_translated_and_nothing_else_is() -> None:
    japanese = _table("ja.js")
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


def _texts(path: Path) -> set[str]:
    """Return the texts of a module with {} for their values, without those that say what its parts are for."""
    tree = ast.parse(path.read_text())
    nodes = list(ast.walk(tree))
    apart = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    apart |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = set()
    for node in nodes:
        if id(node) in apart:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            texts.add("".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
    return texts


def test_every_sentence_of_an_answer_is_translated() -> None:
    japanese = _table("ja_answers.js")
    known = {re.sub(r"\{\w+\}", "{}", text) for text in japanese}
    # What prints answers in a terminal says nothing of its own here.
    modules = [path for path in Path(why.__file__).parent.rglob("*.py") if path.name != "words.py"]
    texts = set().union(*map(_texts, modules))
    sentences = {text for text in texts if re.fullmatch(r"(\{\}|[A-Z][a-z']*)[;,]? .*[a-z{}].*[.:]", text)}
    assert len(sentences) > 80
    assert sentences - known == set()
    assert known - texts == set()
    for text, translated in japanese.items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", translated)), text
