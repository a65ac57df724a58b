"""apply --applyset: what belongs to a set is labelled, what leaves it is pruned, what is another's is left alone."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from pybernetes.tools.kubectl.apply import applyset
from pybernetes.tools.kubectl.main import main
from tests.servers import Server, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("applyset"), "--storage-backend=memory") as made:
        yield made


def _kubectl(server: Server, *arguments: str, gate: str = "true") -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    environment = {
        "HOME": str(server.directory),
        "KUBECONFIG": str(server.kubeconfig),
        "KUBECTL_APPLYSET": gate,
    }
    code = main(list(arguments), stdin=io.StringIO(), stdout=out, stderr=err, environment=environment)
    return code, out.getvalue(), err.getvalue()


def _file(folder: Path, *names: str, labels: str = "{}") -> str:
    texts = [
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, labels: {labels}}}\n" for name in names
    ]
    path = folder / "objects.yaml"
    path.write_text("---\n".join(texts))
    return str(path)


def _apply(server: Server, file: str, parent: str, *more: str, gate: str = "true") -> tuple[int, str, str]:
    flags = ("apply", "-n", "default", "-f", file, f"--applyset={parent}", "--prune", *more)
    return _kubectl(server, *flags, gate=gate)


def _exists(server: Server, name: str) -> bool:
    return server.call("GET", f"/api/v1/namespaces/default/configmaps/{name}")[0] == 200


def test_identity() -> None:
    made = applyset.identity("x", "default", "Secret", "")
    assert made == "applyset-G-rLwzXLn5grGNpeFK7ac0_4jtXh8lZY2C-WSkRhu3w-v1"


def test_what_leaves_the_set_is_pruned_and_nothing_else(server: Server, tmp_path: Path) -> None:
    server.call("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "other"}})
    code, out, err = _apply(server, _file(tmp_path, "a", "b"), "set-1")
    assert (code, out, err) == (0, "configmap/a created\nconfigmap/b created\n", "")
    code, out, err = _apply(server, _file(tmp_path, "a"), "set-1", "--dry-run=server")
    assert out.endswith("configmap/b pruned (server dry run)\n") and _exists(server, "b")
    code, out, err = _apply(server, _file(tmp_path, "a"), "set-1")
    assert (code, out) == (0, "configmap/a unchanged\nconfigmap/b pruned\n")
    assert _exists(server, "other") and not _exists(server, "b")
    parent = server.call("GET", "/api/v1/namespaces/default/secrets/set-1")[1]["metadata"]
    identity = applyset.identity("set-1", "default", "Secret", "")
    assert parent["labels"] == {applyset.ID: identity}
    annotations = {key: value.partition("/v")[0] for key, value in parent["annotations"].items()}
    assert annotations == {applyset.TOOLING: "kubectl", applyset.KINDS: "ConfigMap", applyset.NAMESPACES: ""}
    member = server.call("GET", "/api/v1/namespaces/default/configmaps/a")[1]
    assert member["metadata"]["labels"] == {applyset.PART_OF: identity}


def test_kinds_of_before_are_kept_if_the_run_fails(server: Server, tmp_path: Path) -> None:
    _apply(server, _file(tmp_path, "c"), "set-2")
    broken = tmp_path / "broken.yaml"
    broken.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: []}\n")
    code, _, err = _apply(server, str(broken), "set-2")
    assert code == 1 and "is invalid" in err
    parent = server.call("GET", "/api/v1/namespaces/default/secrets/set-2")[1]
    assert parent["metadata"]["annotations"][applyset.KINDS] == "ConfigMap,Service"
    assert _exists(server, "c")


@pytest.mark.parametrize(
    ("parent", "more", "message"),
    [
        ("x", ("--all",), "--all is incompatible with --applyset"),
        ("x", ("-l", "a=b"), "--selector is incompatible with --applyset"),
        ("x", ("--prune-allowlist=core/v1/Secret",), "--prune-allowlist is incompatible with --applyset"),
        ("x", ("--prune=false",), "--applyset requires --prune"),
        ("secrets/", (), 'invalid parent reference "secrets/": name cannot be blank'),
        ("no.such/x", (), 'invalid parent reference "no.such/x": no matches for such/, Resource=no'),
        ("pods/x", (), 'resource "/v1, Resource=pods" is not permitted as an ApplySet parent'),
    ],
)
def test_command_lines_that_are_refused(
    server: Server, tmp_path: Path, parent: str, more: tuple[str, ...], message: str
) -> None:
    assert _apply(server, _file(tmp_path, "a"), parent, *more) == (1, "", f"error: {message}\n")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({}, "is missing required annotation"),
        ({"annotations": {applyset.TOOLING: "helm/v3"}}, 'is managed by tooling "helm" instead of "kubectl"'),
        ({"annotations": {applyset.TOOLING: "kubectl/v1"}}, "does not have required label"),
        (
            {"annotations": {applyset.TOOLING: "kubectl/v1"}, "labels": {applyset.ID: "x"}},
            "has incorrect value for label",
        ),
    ],
)
def test_a_parent_of_others_is_left_alone(
    server: Server, tmp_path: Path, metadata: dict[str, object], message: str
) -> None:
    value = {"metadata": {"generateName": "parent-", **metadata}}
    name = server.call("POST", "/api/v1/namespaces/default/secrets", value)[1]["metadata"]["name"]
    code, out, err = _apply(server, _file(tmp_path, "never"), name)
    assert (code, out) == (1, "") and message in err
    assert not _exists(server, "never")


def test_a_label_of_the_file_is_refused(server: Server, tmp_path: Path) -> None:
    file = _file(tmp_path, "never", labels=f"{{{applyset.PART_OF}: x}}")
    code, _, err = _apply(server, file, "set-3")
    assert (code, "already set in input data" in err) == (1, True)


def test_the_flag_is_there_only_if_asked_for(server: Server, tmp_path: Path) -> None:
    code, _, err = _apply(server, _file(tmp_path, "a"), "x", gate="")
    assert (code, err.partition("\n")[0]) == (1, "error: unknown flag: --applyset")
