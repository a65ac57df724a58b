"""How containers would end, from their commands alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.local.hollow import container_exit


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ([], None),
        (["nginx", "-g", "daemon off;"], None),
        (["sleep", "30"], (30, 0)),
        (["sleep", "1.5m"], (90, 0)),
        (["true"], (0, 0)),
        (["/bin/false"], (0, 1)),
        (["sh", "-c", "exit 3"], (0, 3)),
        (["/bin/sh", "-c", "sleep 2; echo done; exit 1"], (2, 1)),
        (["/bin/sh", "-c", "sleep 2 && sleep 3"], (5, 0)),
        (["sh", "-c", "false\nexit"], (0, 1)),
        (["sh", "-c", "exit 256"], (0, 0)),
        (["sh", "-c", "while true; do sleep 1; done"], None),
        (["sh", "-c", "if [ -r x ]; then exit 0; fi"], None),
        (["sh"], None),
        (["sh", "-c", "sleep 1; sleep 2\nfalse && exit 9; exit 4"], (3, 4)),
        (["sh", "-c", "if [ $(expr ${INDEX} % 2) -ne 0 ]; then\n exit 1\nelse\n exit 0\nfi"], (0, 1)),
        (["sh", "-c", 'if [ "$INDEX" = "3" ]; then sleep 5; fi; exit 2'], (5, 2)),
        (["sh", "-c", "if [ $INDEX -gt 7 ]; then if true; then exit 1; fi; else exit 6; fi"], (0, 6)),
        (["sh", "-c", "exit $(( $INDEX * 2 ))"], (0, 6)),
        (["sh", "-c", "exit $NAMELESS"], None),
        (["sh", "-c", "exit $(cat file)"], None),
        (["sh", "-c", "if true; sleep 1; fi"], None),
        (["sh", "-c", "true; fi"], None),
        (["sh", "-c", "exit $(expr 1 / 0)"], None),
    ],
)
def test_exit_of_a_command(command: list[str], expected: tuple[float, int] | None) -> None:
    reference = {"fieldRef": {"fieldPath": "metadata.labels['index']"}}
    container = {
        "command": command[:1],
        "args": command[1:],
        "env": [{"name": "INDEX", "valueFrom": reference}],
    }
    assert container_exit.of_container(container, {"metadata": {"labels": {"index": "3"}}}) == expected


@given(
    st.lists(
        st.sampled_from(
            ["if", "then", "else", "fi", ";", "\n", "&&", "[ 1 -eq 1 ]", "[[ a = b ]]", "exit 1", "sleep 2", "$X", "$(expr 1 + 2)",
             "$((3 % 0))", "true", "false", "[ -r x ]", "echo", "|", "exit"]
        ),
        max_size=12,
    )
)  # fmt: skip
def test_no_script_is_too_odd(words: list[str]) -> None:
    ending = container_exit.of_container({"command": ["sh", "-c", " ".join(words)]})
    assert ending is None or (ending.seconds >= 0 and 0 <= ending.exit_code < 256)


def test_a_shell_without_input_ends() -> None:
    assert container_exit.of_container({"image": "registry.k8s.io/e2e-test-images/busybox:1.37"}) == (0, 0)
    assert container_exit.of_container({"image": "busybox"}) == (0, 0)
    assert container_exit.of_container({"image": "nginx"}) is None


def test_annotations_say_it() -> None:
    pod = {
        "metadata": {"annotations": {container_exit.EXIT_CODE: "7", container_exit.RUN_SECONDS: "2.5"}},
        "spec": {"containers": [{"name": "a", "image": "x"}]},
    }
    assert container_exit.of_pod(pod) == (2.5, 7)


def test_a_pod_ends_with_its_last_container() -> None:
    containers = [{"name": "a", "command": ["sleep", "5"]}, {"name": "b", "command": ["false"]}]
    assert container_exit.of_pod({"metadata": {}, "spec": {"containers": containers}}) == (5, 1)
    containers.append({"name": "c"})
    assert container_exit.of_pod({"metadata": {}, "spec": {"containers": containers}}) is None


@pytest.mark.parametrize(
    "script",
    [
        ":;" * 40_000,
        "echo a;" * 20_000,
        "if " * 5000,
        "if true;then " * 1000,
        "sleep " + "9" * 400,
        "exit " + "9" * 5000,
        "echo " + "$LARGE" * 2000,
        "echo $LARGE;" * 20,
    ],
    ids=lambda script: script[:12],
)
def test_a_script_that_is_meant_to_hurt_runs_for_good(script: str) -> None:
    """Whoever may make pods writes it: it took memory without bound, seconds, or the loop of all hollow nodes with it."""
    container = {"command": ["sh", "-c", script], "env": [{"name": "LARGE", "value": "x" * 10_000}]}
    assert container_exit.of_container(container) is None


def test_the_longest_run_has_an_end() -> None:
    (seconds, code) = container_exit.of_container({"command": ["sh", "-c", "sleep 999999999d;" * 900]}) or (
        0,
        1,
    )
    assert 0 < seconds < 1e9 and code == 0
