"""What hollow containers print, and how commands in them end."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.local.hollow.container_output import EXEC, LOGS, executed, log


def pod(command: list[str], annotations: dict[str, str]) -> dict[str, Any]:
    return {
        "metadata": {"name": "a", "annotations": annotations},
        "spec": {"containers": [{"name": "main", "image": "some/server", "command": command}]},
        "status": {"startTime": "2026-01-01T12:00:00Z"},
    }


@pytest.mark.parametrize(
    ("shown", "options", "expected"),
    [
        (pod([], {}), {}, b""),
        (pod(["sh", "-c", "echo 'it runs'; sleep 5; echo bye"], {}), {}, b"it runs\nbye\n"),
        (pod([], {LOGS: "one\ntwo"}), {}, b"one\ntwo\n"),
        (pod(["echo", "no"], {LOGS: "for all", f"{LOGS}.main": "for one"}), {}, b"for one\n"),
        (pod([], {LOGS: "one\ntwo"}), {"tail": 1}, b"two\n"),
        (pod([], {LOGS: "one\ntwo"}), {"tail": 0}, b""),
        (pod([], {LOGS: "one\ntwo"}), {"limit": 5}, b"one\nt"),
        (pod([], {LOGS: "one"}), {"timestamps": True}, b"2026-01-01T12:00:00Z one\n"),
    ],
)
def test_logs(shown: dict[str, Any], options: dict[str, Any], expected: bytes) -> None:
    assert log(shown, shown["spec"]["containers"][0], **options) == expected


@pytest.mark.parametrize(
    ("command", "annotations", "output", "code"),
    [
        (["true"], {}, "", "0"),
        (["false"], {}, "", "1"),
        (["sh", "-c", "echo hi; exit 3"], {}, "hi\n", "3"),
        (["psql", "-c", "select 1"], {EXEC: "1 row"}, "1 row\n", "0"),
    ],
)
def test_commands(command: list[str], annotations: dict[str, str], output: str, code: str) -> None:
    shown = pod([], annotations)
    result = executed(shown, shown["spec"]["containers"][0], command)
    causes = result.status.get("details", {}).get("causes", [{"message": "0"}])
    assert (result.output, causes[0]["message"]) == (output, code)


def test_what_is_not_understood_says_so() -> None:
    shown = pod([], {})
    status = executed(shown, shown["spec"]["containers"][0], ["ls"]).status
    assert status["status"] == "Failure"
    assert "nothing runs in a hollow pod" in status["message"] and EXEC in status["message"]
