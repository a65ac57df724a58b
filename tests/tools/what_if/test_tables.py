"""What an answer looks like; a server that names things as it likes commands no terminal."""

from __future__ import annotations

from pathlib import Path

from pybernetes.tools.what_if import picture, tables
from tests.scheduling.builders import node
from tests.tools.what_if.clusters import ask, cluster, deployment, running

EVIL = "n\x1b[2J\x9b31m\r\nroot# "


def test_names_command_no_terminal(tmp_path: Path) -> None:
    answer = ask(
        cluster([node(EVIL)], [running(f"p{EVIL}", EVIL)]),
        "schedule", "--count=6", file=tmp_path / "f", objects=[deployment("web", 1)],
    )  # fmt: skip
    assert answer.placed and answer.pending
    for coloured in (False, True):
        text = tables.text(answer, 100, picture.style("utf-8", coloured))
        assert "n\\x1b[2J" in text
        for code in ("33", "36", "0"):
            text = text.replace(f"\x1b[{code}m", "")  # our own colours
        assert all(line.isprintable() for line in text.split("\n"))
        assert not any(line.startswith("root#") for line in text.split("\n"))
