"""What completion offers, and the scripts of the shells."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.tools.kubectl.command_line import completion
from tests.tools.kubectl.run_kubectl import run


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        (["ge"], ["get", ":4"]),
        (["get", "--all-"], ["--all-namespaces", ":4"]),
        (["rollout", "re"], ["restart", "resume", ":4"]),
        (["rollout", "restart", "d"], ["deployment", "daemonset", ":4"]),
        (["get", "-o", "js"], ["json", "jsonpath", "jsonpath-as-json", "jsonpath-file", ":4"]),
        (["get", "--output=ya"], ["yaml", ":4"]),
        (["get", "-wo", "ya"], ["yaml", ":4"]),
        (["apply", "-f", ""], ["json", "yaml", "yml", ":8"]),
        (["completion", ""], ["powershell", "bash", "zsh", "fish", ":4"]),
        (["get", "--sort-by", ""], [":0"]),
        (["exec", "p", "--", "-"], [":4"]),
        (["nope", ""], [":0"]),
        (["help", "ge"], ["get", ":4"]),
        (["explain", ""], [":0"]),
    ],
)
def test_completion(words: list[str], choices: list[str]) -> None:
    assert [line.partition("\t")[0] for line in run("__complete", *words)[1].splitlines()] == choices


def test_files_are_offered_beside_pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell offers them by itself where nothing else is."""
    (tmp_path / "we b").mkdir()
    (tmp_path / "wax").touch()
    monkeypatch.chdir(tmp_path)
    there = {"namespaces": ["ns"], "pods": ["web-1"]}
    monkeypatch.setattr(completion, "_objects", lambda _, word: there[word])
    assert run("__complete", "cp", "w")[1] == "web-1:\nwax\nwe b/\n:2\n"
    assert run("__complete", "cp", "wa")[1] == ":2\n"
    assert run("__complete", "cp", "")[1] == "ns/\nweb-1:\n./\n/\n:2\n"
    assert run("__complete", "cp", "wax", "w")[1] == "web-1:\n:2\n"


def test_commands_are_described_unless_the_shell_cannot_show_it() -> None:
    assert (
        run("__complete", "create", "sec")[1] == "secret\tCreate a secret using a specified subcommand\n:4\n"
    )
    assert run("__completeNoDesc", "create", "sec")[1] == "secret\n:4\n"


@pytest.mark.parametrize(
    ("shell", "marks"),
    [
        (
            "bash",
            ["complete -F __kubectl_complete kubectl", "directive & 2", "directive & 4", "directive & 8"],
        ),
        ("zsh", ["#compdef kubectl", "directive & 2", "directive & 4", "directive & 8"]),
        ("fish", ["complete -c kubectl -f", "bitand($directive, 4)", "bitand($directive, 8)"]),
        ("powershell", ["Register-ArgumentCompleter -Native", "-band 2", "-band 8"]),
    ],
)
def test_completion_scripts_ask_the_command(shell: str, marks: list[str]) -> None:
    code, script, _ = run("completion", shell)
    assert code == 0 and all(mark in script for mark in ["kubectl __complete", *marks])
