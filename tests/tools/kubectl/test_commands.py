"""The list of verbs, their help, completion, and what a fast start depends on."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.kubectl.apply.three_way_patch import merge_patch, strategic_patch
from pybernetes.tools.kubectl.command_line.flags import declare
from pybernetes.tools.kubectl.help import names
from pybernetes.tools.kubectl.main import _load, main
from pybernetes.tools.kubectl.printers.tabs import align

PACKAGE = "pybernetes.tools.kubectl.commands"
ROOT = Path(__file__).resolve().parents[3]
VERBS = [
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
    "rollout": "history pause restart resume status undo",
    "set": "env image resources selector serviceaccount subject",
    "top": "node pod",
}


def run(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(
        list(arguments), stdout=out, stderr=err, stdin=io.StringIO(), environment={"HOME": "/nonexistent"}
    )
    return code, out.getvalue(), err.getvalue()


def module_of(path: str) -> Any:
    package, found = PACKAGE, None
    for word in path.split():
        found = _load(package, word)
        assert found is not None, path
        package = found.__name__
    return found


def test_every_verb_is_there() -> None:
    assert names(PACKAGE) == VERBS
    for path, words in NESTED.items():
        assert names(module_of(path).__name__) == words.split()


@pytest.mark.parametrize(
    "path", [*VERBS, *(f"{path} {word}" for path, words in NESTED.items() for word in words.split())]
)
def test_every_verb_explains_itself(path: str) -> None:
    command = module_of(path)
    assert command.SUMMARY and command.USAGE.startswith(path.split()[0])
    declare(*command.FLAGS)
    code, out, err = run(*path.split(), "--help")
    assert (code, err) == (0, "") and command.SUMMARY in out and f"kubectl {command.USAGE}" in out


def test_the_overview_names_every_verb() -> None:
    code, out, _ = run()
    assert code == 0 and all(f"  {verb} " in out for verb in VERBS)


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        (["ge"], ["get", ":4"]),
        (["get", "--all-"], ["--all-namespaces", ":4"]),
        (["rollout", "re"], ["restart", "resume", ":4"]),
        (["rollout", "restart", "d"], ["daemonset", "deployment", ":4"]),
        (["get", "-o", "js"], ["json", "jsonpath", "jsonpath-as-json", "jsonpath-file", ":4"]),
        (["get", "--output=ya"], ["yaml", ":4"]),
        (["get", "-wo", "ya"], ["yaml", ":4"]),
        (["apply", "-f", ""], ["json", "yaml", "yml", ":8"]),
        (["completion", ""], ["bash", "fish", "powershell", "zsh", ":4"]),
        (["get", "--sort-by", ""], [":0"]),
        (["exec", "p", "--", "-"], [":4"]),
        (["nope", ""], [":0"]),
    ],
)
def test_completion(words: list[str], choices: list[str]) -> None:
    assert [line.partition("\t")[0] for line in run("__complete", *words)[1].splitlines()] == choices


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


def test_get_imports_nothing_heavy() -> None:
    code = (
        "import sys; import pybernetes.tools.kubectl.main as m; import pybernetes.tools.kubectl.commands.get; "
        "print([name for name in ('typing', 'dataclasses', 'asyncio', 'yaml', 'orjson', 'cryptography', 'argparse', "
        "'http.client', 'inspect', 'email') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_columns_line_up_only_where_lines_follow_one_another() -> None:
    assert align("a:\tb\nlonger:\tc\nplain\nx:\ty\n") == "a:       b\nlonger:  c\nplain\nx:  y\n"


def test_a_patch_removes_what_was_wanted_before_and_keeps_what_others_set() -> None:
    original, modified = {"a": 1, "b": 2, "m": {"x": 1}}, {"a": 3, "m": {}}
    assert merge_patch(original, modified, {"a": 1, "b": 2, "c": 9, "m": {"x": 1, "y": 2}}) == {
        "a": 3,
        "b": None,
        "m": {"x": None},
    }


def test_a_strategic_patch_merges_lists_by_key() -> None:
    from pybernetes.api.patch.strategic import apply
    from pybernetes.api.schema import kind_type

    type_ = kind_type("", "v1", "Pod")
    original = {"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "gone", "image": "1"}]}}
    modified = {"spec": {"containers": [{"name": "a", "image": "2"}, {"name": "new", "image": "1"}]}}
    current = {"spec": {"containers": [{"name": "a", "image": "1", "tty": True}, {"name": "gone", "image": "1"}, {"name": "other", "image": "1"}]}}  # fmt: skip
    patch = strategic_patch(original, modified, current, type_)
    after = {each["name"]: each for each in apply(current, patch, type_)["spec"]["containers"]}
    assert sorted(after) == ["a", "new", "other"] and after["a"] == {"name": "a", "image": "2", "tty": True}


def test_a_bare_dry_run_makes_nothing() -> None:
    code, out, err = run("create", "deployment", "d", "--image=x", "--dry-run")
    assert (code, out) == (0, "deployment.apps/d created (dry run)\n")
    assert err == "--dry-run is deprecated and can be replaced with --dry-run=client.\n"
