"""The gate: each of its parts can fail it, and types are checked beside the tests."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CHECK = Path(__file__).resolve().parents[2] / "scripts" / "check"
# Tells how it was called, and fails when it is called so; types and tests meet, which they cannot one after the other.
PART = """#!/bin/sh
called="$(basename "$0")${1:+ $*}"
echo "$called"
if [ ! -e met ]; then
    case "$called" in
        "lint types") echo > meeting ;;
        test) read -r _ <meeting && touch met ;;
    esac
fi
case "$called" in FAILING) exit 3 ;; esac
"""
STYLE, LAYERS, TYPES, TESTS = "lint style", "test -q tests/test_layers.py", "lint types", "test"


@pytest.mark.parametrize(
    ("failing", "called"),
    [
        ("nothing", [STYLE, LAYERS, TESTS, TYPES]),
        (STYLE, [STYLE]),
        (LAYERS, [STYLE, LAYERS]),
        (TYPES, [STYLE, LAYERS, TESTS, TYPES, TYPES]),  # said again at the end
        (TESTS, [STYLE, LAYERS, TESTS, TYPES]),
    ],
)
def test_every_part_counts(failing: str, called: list[str], tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    shutil.copy(CHECK, scripts)
    for name in ("lint", "test"):
        (scripts / name).write_text(PART.replace("FAILING", f'"{failing}"'))
        (scripts / name).chmod(0o755)
    os.mkfifo(tmp_path / "meeting")
    done = subprocess.run([scripts / "check"], capture_output=True, text=True, timeout=60)
    assert (done.returncode == 0) == (failing == "nothing"), done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == called[:2] and sorted(lines) == sorted(called)
