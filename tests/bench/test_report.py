import json
from pathlib import Path
from typing import Any

import pytest

from bench import compare
from bench.harness.report import figures_of_load, percentile, table


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (50, 51), (90, 91), (99, 100), (100, 100)])
def test_percentile(percent: float, expected: float) -> None:
    assert percentile(range(1, 101), percent) == expected


def test_percentile_of_nothing_is_zero() -> None:
    assert percentile([], 50) == 0


def result(rate: float, **extra: Any) -> dict[str, Any]:
    figures = figures_of_load([0.001] * 10, 10 / rate, 1000, 0, 0.1, "python")
    return {
        "server_version": "v1.37.0",
        "machine": {"cores": 2},
        "quick": False,
        "pod_bytes": 1700,
        "results": {"get-1": figures},
        "ready_seconds": {"as found": 2.0},
        "memory_megabytes": {"process 1 before": 100.0},
        **extra,
    }


def test_the_table_shows_every_figure() -> None:
    text = table(result(50))
    assert "get-1" in text and "50.00" in text and "python 0.50" in text
    assert "ready, as found: 2.0 s" in text
    assert "memory, process 1 before: 100.0 MB" in text


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
