"""The parts of help texts."""

from __future__ import annotations

import io

import pytest

from pybernetes.tools.kubectl.main import main


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("create cm", ["\nAliases:\nconfigmap, cm\n", "\nExamples:\n", "\nOptions:\n", " [options]\n"]),
        (
            "create svc",
            ["\nAliases:\nservice, svc\n", "\nUsage:\n  kubectl create service [flags] [options]\n"],
        ),
        ("config unset", ["\nExamples:\n", "\nUsage:\n  kubectl config unset PROPERTY_NAME [options]\n"]),
        ("port-forward", ["\nUsage:\n  kubectl port-forward TYPE/NAME [options] [LOCAL_PORT:]REMOTE_PORT "]),
    ],
)
def test_parts(line: str, parts: list[str]) -> None:
    out = io.StringIO()
    assert main([*line.split(), "--help"], stdout=out, stderr=out, environment={"LANG": "C"}) == 0
    places = [out.getvalue().find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
    assert out.getvalue().count("[options]") == 1
