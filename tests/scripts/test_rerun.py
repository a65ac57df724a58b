"""The gate's second try: flaky tests are named, real failures fail."""

import subprocess
import sys
from pathlib import Path

import pytest

RERUN = Path(__file__).resolve().parents[2] / "scripts" / "rerun"

PASSES = "def test_passes():\n    pass\n"
FAILS = "def test_fails():\n    assert False\n"
# Fails in the first process that runs it, passes in every later one.
FLAKY = """
from pathlib import Path

def test_flaky():
    mark = Path("mark")
    seen = mark.exists()
    mark.touch()
    assert seen
"""
MANY = "import pytest\n@pytest.mark.parametrize('n', range(21))\ndef test_many(n):\n    assert False\n"


@pytest.mark.parametrize(
    ("source", "code", "texts"),
    [
        (PASSES, 0, ["1 passed"]),
        (PASSES + FLAKY, 0, ["FLAKY test_it.py::test_flaky", "0 failed twice, 1 flaky"]),
        (PASSES + FAILS, 1, ["FAILED test_it.py::test_fails", "1 failed twice, 0 flaky"]),
        (FAILS + FLAKY, 1, ["FLAKY test_it.py::test_flaky", "FAILED test_it.py::test_fails"]),
        (MANY, 1, ["too many to be chance"]),
        ("import nothing_of_that_name\n", 2, []),
    ],
    ids=["passes", "flaky", "fails", "both", "many", "broken"],
)
def test_second_try(tmp_path: Path, source: str, code: int, texts: list[str]) -> None:
    (tmp_path / "test_it.py").write_text(source)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    result = subprocess.run(
        [sys.executable, str(RERUN), "-q"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == code, result.stdout + result.stderr
    for text in texts:
        assert text in result.stdout


def test_failures_of_an_earlier_run_are_forgotten(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    test = tmp_path / "test_it.py"
    for source, code in ((FAILS, 1), (FLAKY, 0)):
        test.write_text(source)
        result = subprocess.run(
            [sys.executable, str(RERUN), "-q"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert result.returncode == code, result.stdout
    assert "test_fails" not in result.stdout
