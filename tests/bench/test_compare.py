"""Comparing two results."""

import json
from pathlib import Path

import pytest

from bench import compare
from tests.bench.results import result


def test_compare_prints_how_many_times_better_the_second_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "base").write_text("a line of log\n" + json.dumps(result(50)))
    (tmp_path / "new").write_text(json.dumps(result(200, ready_seconds={"as found": 0.5})))
    assert compare.main([str(tmp_path / "base"), str(tmp_path / "new")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["get-1", "per", "s", "50.00", "200.00", "4.00", "×"]
    assert any(line.startswith("as found") and line.endswith("4.00 ×") for line in lines)
    assert any(line.startswith("process 1 before") and line.endswith("1.00 ×") for line in lines)


def test_compare_says_when_the_ratios_mean_little() -> None:
    other = result(50, machine={"cores": 64}, pod_bytes=1000, quick=True)
    other["results"]["get-1"]["generator"] = "wrk"
    text = "\n".join(compare.compare(result(50), other))
    for words in ("different machines", "different generators", "differ in size", "quick run"):
        assert words in text


def test_compare_refuses_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["/no/such/file", "/no/such/file"]) == 1
    assert "/no/such/file" in capsys.readouterr().err
