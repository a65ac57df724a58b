from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.federation import deletion
from pybernetes.control_plane.federation.deletion import USUAL, Deletion
from pybernetes.control_plane.federation.kinds import DELETE_OPTION


def annotated(text: str) -> dict[str, Any]:
    return {"metadata": {"annotations": {DELETE_OPTION: text}}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", USUAL),
        ('{"propagationPolicy":"Orphan"}', Deletion("Orphan")),
        ('{"gracePeriodSeconds":0,"preconditions":null}', Deletion("Background", 0)),
        ('{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground","gracePeriodSeconds":5}', Deletion("Foreground", 5)),
    ],
)  # fmt: skip
def test_options_of_an_annotation(text: str, expected: Deletion) -> None:
    assert deletion.of_object(annotated(text)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Orphan", "no JSON"),
        ("[]", "no object"),
        ('{"propagationPolicy":"All"}', "propagationPolicy"),
        ('{"propagationPolicy":["Orphan"]}', "propagationPolicy"),
        ('{"gracePeriodSeconds":-1}', "seconds"),
        ('{"gracePeriodSeconds":"5"}', "seconds"),
        ('{"preconditions":{"uid":"x"}}', "preconditions"),
    ],
)
def test_what_makes_no_sense_is_no_deletion(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        deletion.of_object(annotated(text))


def test_nothing_said_is_the_usual() -> None:
    assert deletion.of_object({"metadata": {}}) == USUAL
