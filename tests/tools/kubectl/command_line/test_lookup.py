"""The commands: their list, their help, and how one is added."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pybernetes.tools.kubectl.command_line.flags import declare
from pybernetes.tools.kubectl.command_line.lookup import COMMANDS, group_of, load, names
from tests.added_files import added_folder
from tests.tools.kubectl.run_kubectl import run

if TYPE_CHECKING:
    from pybernetes.tools.kubectl.command_line.lookup import Command

VERBS = [
    "alpha",
    "annotate",
    "api-resources",
    "api-versions",
    "apply",
    "attach",
    "auth",
    "autoscale",
    "certificate",
    "cluster-info",
    "completion",
    "config",
    "cordon",
    "cp",
    "create",
    "debug",
    "delete",
    "describe",
    "diff",
    "drain",
    "edit",
    "events",
    "exec",
    "explain",
    "expose",
    "get",
    "help",
    "kuberc",
    "kustomize",
    "label",
    "logs",
    "options",
    "patch",
    "plugin",
    "port-forward",
    "proxy",
    "replace",
    "rollout",
    "run",
    "scale",
    "set",
    "taint",
    "top",
    "uncordon",
    "version",
    "wait",
]
NESTED = {
    "apply": "edit-last-applied set-last-applied view-last-applied",
    "auth": "can-i reconcile whoami",
    "certificate": "approve deny",
    "cluster-info": "dump",
    "config": "current-context delete-cluster delete-context delete-user get-clusters get-contexts get-users rename-context "
    "set set-cluster set-context set-credentials unset use-context view",
    "create": "clusterrole clusterrolebinding configmap cronjob deployment ingress job namespace poddisruptionbudget "
    "priorityclass quota role rolebinding secret service serviceaccount token",
    "create secret": "docker-registry generic tls",
    "create service": "clusterip externalname loadbalancer nodeport",
    "kuberc": "set view",
    "plugin": "list",
    "rollout": "history pause restart resume status undo",
    "set": "env image resources selector serviceaccount subject",
    "top": "node pod",
}


def command_of(path: str) -> Command:
    package: str | None = COMMANDS
    command = None
    for word in path.split():
        assert package is not None, path
        command = load(package, word)
        assert command is not None, path
        package = group_of(command)
    assert command is not None
    return command


def test_every_verb_is_there() -> None:
    assert names(COMMANDS) == VERBS
    for path, words in NESTED.items():
        assert names(group_of(command_of(path)) or "") == words.split()


@pytest.mark.parametrize(
    "path", [*VERBS, *(f"{path} {word}" for path, words in NESTED.items() for word in words.split())]
)
def test_every_verb_explains_itself(path: str) -> None:
    command = command_of(path)
    assert command.SUMMARY and command.USAGE.startswith(path.split()[0])
    declare(*command.FLAGS)
    code, out, err = run(*path.split(), "--help")
    assert (code, err) == (0, "") and command.SUMMARY in out and f"kubectl {command.USAGE}" in out


def test_the_overview_names_every_verb() -> None:
    code, out, _ = run()
    assert code == 0 and all(
        f"  {verb} " in out for verb in VERBS if verb not in ("alpha", "help", "options")
    )


HELLO = """
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Greet somebody"
USAGE = "hello-world [NAME]"
ALIASES = ("hi",)
COMPLETION = "words jane john"
FLAGS = ("- loud bool false | in capitals",)


def run(context: Context) -> None:
    text = f"hello {context.args[0]}"
    context.out(text.upper() if context.flags.loud else text)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder whose files are commands."""
    with added_folder(COMMANDS, tmp_path):
        yield tmp_path


def test_a_file_is_a_command(folder: Path) -> None:
    (folder / "hello_world.py").write_text(HELLO)
    assert run("hello-world", "jane", "--loud") == (0, "HELLO JANE\n", "")
    assert run("hi", "jane") == (0, "hello jane\n", "")
    assert "hello-world" in names(COMMANDS)
    assert "  hello-world     Greet somebody\n" in run()[1]
    assert "--loud=false" in run("hello-world", "--help")[1]
    assert run("__complete", "hello-world", "ja")[1] == "jane\n:4\n"
    assert run("__complete", "hello")[1] == "hello-world\tGreet somebody\n:4\n"


def test_a_folder_is_a_command_with_commands(folder: Path) -> None:
    inner = folder / "hello"
    inner.mkdir()
    (inner / "__init__.py").write_text("")
    (inner / "hello.py").write_text(HELLO.replace("hello-world", "hello"))
    (inner / "again.py").write_text(HELLO.replace("hello {", "hello again {"))
    assert run("hello", "john") == (0, "hello john\n", "")
    assert run("hello", "again", "john") == (0, "hello again john\n", "")
    command = command_of("hello")
    assert names(group_of(command) or "") == ["again"] and group_of(command_of("hello again")) is None
    assert "Available Commands:\n  again         Greet somebody\n" in run("hello", "--help")[1]


@pytest.mark.parametrize(
    ("alias", "path"),
    [
        ("create ns", "create namespace"),
        ("create svc clusterip", "create service clusterip"),
        ("top po", "top pod"),
        ("set sa", "set serviceaccount"),
        ("config use", "config use-context"),
    ],
)
def test_aliases(alias: str, path: str) -> None:
    assert command_of(alias) is command_of(path)


@pytest.mark.parametrize("word", ["", "-", "create_", "_group", "a/b", "commands", "gett"])
def test_words_that_are_no_commands(word: str) -> None:
    assert load(COMMANDS, word) is None
