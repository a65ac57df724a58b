"""Server, trust and identity from a kubeconfig and flags."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.kubectl import log
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.command_line.flags import declare, parse
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.kubeconfig import access as access_module
from pybernetes.tools.kubectl.kubeconfig.access import Access, access, current, namespace_of_pod

CONFIG: dict[str, Any] = {
    "current-context": "here",
    "clusters": [{"name": "c", "cluster": {"server": "https://c:6443/prefix", "tls-server-name": "name"}}],
    "users": [
        {"name": "token", "user": {"token": "t", "as": "jane", "as-groups": ["g"]}},
        {"name": "basic", "user": {"username": "u", "password": "p"}},
        {"name": "program", "user": {"exec": {"command": "x"}}},
    ],
    "contexts": [
        {"name": "here", "context": {"cluster": "c", "user": "token", "namespace": "team"}},
        {"name": "lost", "context": {"cluster": "gone"}},
    ],
}


def made(*arguments: str) -> Access:
    return access(CONFIG, parse(list(arguments), declare(shared_flags.GLOBAL)))


@pytest.mark.parametrize(
    ("server", "host", "port", "prefix"),
    [
        ("https://a", "a", 443, ""),
        ("http://a", "a", 80, ""),
        ("a:8080", "a", 8080, ""),
        ("https://[::1]:6443/x/", "::1", 6443, "/x"),
    ],
)
def test_addresses(server: str, host: str, port: int, prefix: str) -> None:
    address = Access(server)
    assert (address.host, address.port, address.prefix) == (host, port, prefix)


def test_the_current_context() -> None:
    here = made()
    assert (here.server, here.server_name) == ("https://c:6443/prefix", "name")
    assert here.headers == {
        "Authorization": "Bearer t",
        "Impersonate-User": "jane",
        "Impersonate-Group": ["g"],
    }
    assert current(CONFIG, parse([], declare(shared_flags.GLOBAL)))["namespace"] == "team"


def test_flags_come_first() -> None:
    assert made("--user=basic").headers["Authorization"] == "Basic dTpw"
    assert made("--token=other").headers["Authorization"] == "Bearer other"
    assert made("--as=john").headers["Impersonate-User"] == "john"
    assert made("--server=http://x").server == "http://x"
    program = made("--user=program")
    assert (program.exec, program.user) == ({"command": "x"}, "program")


@pytest.mark.parametrize("user", ["token", "basic", "program"])
def test_credentials_are_not_sent_in_the_clear(user: str) -> None:
    plain = made("--server=http://c", f"--user={user}")
    assert "Authorization" not in plain.headers
    assert plain.exec is None
    assert plain.headers.get("Impersonate-User") == ("jane" if user == "token" else None)


def test_a_cluster_that_is_not_there_is_on_this_machine() -> None:
    assert made("--context=lost").server == "http://localhost:8080"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--context=nope"], "Error in configuration: context was not found for specified context: nope"),
        (["--cluster=nope"], 'error: no server found for cluster "nope"'),
        (["--user=nope"], 'error: auth info "nope" does not exist'),
        (
            ["--as=", "--user=basic", "--as-group=x"],
            "error: requesting uid, groups or user-extra for basic without impersonating a user",
        ),
        (
            ["--username=x"],
            "error: more than one authentication method found for token; found [token basicAuth], only one is allowed",
        ),
        (
            ["--proxy-url=x"],
            'error: invalid \'proxy-url\' "x" for cluster "c": unsupported scheme "", must be http, https, or socks5',
        ),
    ],
)
def test_mistakes(arguments: list[str], text: str) -> None:
    with pytest.raises(CommandError) as caught:
        made(*arguments)
    assert caught.value.text() == text


def test_what_a_pod_has_is_used_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("token", "t"), ("ca.crt", "c"), ("namespace", "team\n")):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(access_module, "_ACCOUNT", str(tmp_path))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    told = io.StringIO()
    log.set_level(4, told)
    try:
        in_cluster = access({}, parse([], declare(shared_flags.GLOBAL)))
        assert (in_cluster.host, in_cluster.port, in_cluster.authority, namespace_of_pod({})) == (
            "10.96.0.1",
            443,
            "c",
            "team",
        )
    finally:
        log.set_level(0)
    lines = [line.partition("] ")[2] for line in told.getvalue().splitlines()]
    assert lines == ["Using in-cluster configuration", "Using in-cluster namespace"]
