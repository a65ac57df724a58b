"""Which language help is in."""

from __future__ import annotations

import pytest

from pybernetes.tools.kubectl.command_line.translations import language, sentence, summary


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({"LANG": "ja_JP.UTF-8"}, "ja_JP"),
        ({"LANG": "ja_JP"}, ""),  # without an encoding
        ({"LANG": "xx_YY.UTF-8"}, ""),
        ({"LC_ALL": "C", "LANG": "ja_JP.UTF-8"}, ""),
        ({"LC_ALL": "", "LC_MESSAGES": "de_DE.UTF-8", "LANG": "ja_JP.UTF-8"}, "de_DE"),
        ({}, ""),
    ],
)
def test_the_first_variable_that_is_set_decides(
    variables: dict[str, str], wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language() == wanted


def test_commands_of_commands_are_translated_and_others_stay_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    monkeypatch.setenv("LANG", "ja_JP.UTF-8")
    assert summary("rollout undo", "Undo") != "Undo"
    assert sentence("rollout undo", "Undo").endswith("。")
    assert sentence("no such command", "Undo") == "Undo."
