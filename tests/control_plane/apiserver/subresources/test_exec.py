"""exec and attach: which streams a client means, whatever words it uses for yes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pytest

from pybernetes.api.errors import StatusError
from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.storage.options import boolean
from pybernetes.control_plane.apiserver.subresources import _streams, attach, log
from pybernetes.control_plane.apiserver.subresources import exec as execution

_POD = {"metadata": {"namespace": "default", "name": "web"}, "spec": {"containers": [{"name": "main"}]}}


def request(query: str, subresource: str = "exec") -> Any:
    values = parse_qs(query, keep_blank_values=True)
    info = SimpleNamespace(verb="get", subresource=subresource, name="web", namespace="default", rest="")
    return SimpleNamespace(query=values, request_info=info, parameter=lambda name: values.get(name, [""])[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None), ("x=", True), ("x=1", True), ("x=true", True), ("x=True", True), ("x=TRUE", True), ("x=yes", True),
        ("x=0", False), ("x=false", False), ("x=False", False), ("y=true", None),
    ],
)  # fmt: skip
def test_all_but_two_words_are_true(text: str, expected: bool | None) -> None:
    assert boolean(request(text), "x") is expected


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, list[str]]]]:
    """What the kubelet is asked for."""
    asked: list[tuple[str, dict[str, list[str]]]] = []

    async def connect(
        context: Any, request: Any, kind: Any, pod: Any, path: str, query: dict[str, list[str]]
    ) -> None:
        asked.append((path, query))

    async def pod(*_: Any) -> dict[str, Any]:
        return _POD

    async def allowed(*_: Any) -> None:
        pass

    monkeypatch.setattr(_streams, "connect", connect)
    monkeypatch.setattr(_streams, "scheduled_pod", pod)
    monkeypatch.setattr(_streams, "require_create", allowed)
    return asked


async def test_exec_of_a_client_in_python(connected: list[Any]) -> None:
    """kubernetes_asyncio sends True and False."""
    query = "stdin=False&stdout=True&stderr=True&tty=False&command=ls"
    await execution.handle(None, request(query), None)  # type: ignore[arg-type]
    assert connected == [("/exec/default/web/main", {"output": ["1"], "error": ["1"], "command": ["ls"]})]


async def test_attach_of_a_client_in_python(connected: list[Any]) -> None:
    await attach.handle(None, request("stdin=True&stdout=1&stderr=0", "attach"), None)  # type: ignore[arg-type]
    assert connected == [("/attach/default/web/main", {"input": ["1"], "output": ["1"]})]


async def test_no_stream_at_all_is_refused(connected: list[Any]) -> None:
    with pytest.raises(StatusError, match="at least 1 of stdin, stdout, stderr"):
        await execution.handle(None, request("stdout=False&stderr=0&command=ls"), None)  # type: ignore[arg-type]
    assert connected == []


async def test_what_logs_are_asked_for_reaches_the_kubelet_which_reads_it_alike(connected: list[Any]) -> None:
    query = "follow=True&timestamps=False&previous=1"
    await log.handle(None, request(query, "log"), None)  # type: ignore[arg-type]
    ((path, asked),) = connected
    assert path == "/containerLogs/default/web/main"
    assert asked == {"follow": ["True"], "timestamps": ["False"], "previous": ["1"]}


@pytest.mark.parametrize(
    ("subresource", "query", "expected"),
    [
        (
            "exec",
            "stdin=True&stdout=False&tty=yes&command=ls",
            {"stdin": True, "tty": True, "command": ["ls"]},
        ),
        ("attach", "stdout=TRUE&stderr=0", {"stdout": True}),
        ("portforward", "ports=80&ports=443,0080,65535", {"ports": [80, 443, 80, 65535]}),
        ("proxy", "ports=x", {}),
    ],
)
def test_admission_sees_the_same(subresource: str, query: str, expected: dict[str, Any]) -> None:
    kind: Any = SimpleNamespace(resource=next(resource for resource in builtin() if resource.kind == "Pod"))
    options = _streams.options_of(request(query, subresource), kind)
    assert {key: value for key, value in options.items() if key not in ("kind", "apiVersion")} == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "invalid syntax"), ("x", "invalid syntax"), ("-1", "invalid syntax"), ("80,", "invalid syntax"),
        ("\u00b2", "invalid syntax"), ("\u0663", "invalid syntax"), ("1_0", "invalid syntax"),
        ("65536", "value out of range"), ("9" * 5000, "value out of range"),
    ],
)  # fmt: skip
def test_what_is_no_port_is_refused(text: str, problem: str) -> None:
    kind: Any = SimpleNamespace(resource=next(resource for resource in builtin() if resource.kind == "Pod"))
    with pytest.raises(StatusError, match=rf"cannot convert to \[\]int32: strconv.ParseUint: .*{problem}"):
        _streams.options_of(request(f"ports=80&ports={text}", "portforward"), kind)
