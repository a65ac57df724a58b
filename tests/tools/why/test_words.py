"""Answers as people read them."""

import json

from pybernetes.tools.why import words
from pybernetes.tools.why.finding import Answer, Finding, Link

EVIL = "\x1b[2J\x1b]0;owned\x07\r\n\u202e"


def test_causes_come_first() -> None:
    known = Finding("Also this.", cause=False)
    cause = Finding("That is why.", ["a detail"], [Link("Pod", "web", "shop")], "kubectl get pods")
    lines = words.text(Answer(Link("Service", "web", "shop"), "0 endpoints", [known, cause], ["a note"]), 80)
    assert lines.splitlines() == [
        "service/web in shop: 0 endpoints",
        "  ● That is why.",
        "      a detail",
        "      see pod/web in shop",
        "      $ kubectl get pods",
        "  ○ Also this.",
        "  note: a note",
    ]


def test_all_is_well() -> None:
    assert "Nothing is the matter" in words.text(Answer(Link("Pod", "web"), "Running"), 80)


def test_texts_of_others_do_not_command_the_terminal() -> None:
    hostile = Finding(EVIL, [EVIL], [Link(EVIL, EVIL, EVIL)], EVIL)
    text = words.text(Answer(Link(EVIL, EVIL), EVIL, [hostile], [EVIL]), 80)
    assert not any(character in text for character in "\x1b\x07\r\u202e")


def test_a_flood_is_cut() -> None:
    huge = Finding("x" * 1_000_000, ["y " * 1_000_000] * 1000, [Link("Pod", "web")] * 10_000)
    answer = Answer(Link("Pod", "web"), "Running", [huge] * 1000)
    assert len(words.text(answer, 80)) < 2_000_000
    assert len(json.dumps(huge.as_json())) < 100_000
