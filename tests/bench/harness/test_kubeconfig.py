import base64
import ssl
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.harness.kubeconfig import ConfigError, load_target


def write(folder: Path, cluster: dict[str, Any], user: dict[str, Any]) -> str:
    path = folder / "kubeconfig"
    config = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "one", "user": "me"}}],
        "clusters": [{"name": "one", "cluster": {"insecure-skip-tls-verify": True, **cluster}}],
        "users": [{"name": "me", "user": user}],
    }
    path.write_text(yaml.safe_dump(config))
    return str(path)


def test_a_server_with_a_token(tmp_path: Path) -> None:
    path = write(tmp_path, {"server": "https://127.0.0.1:6443"}, {"token": "secret"})
    target = load_target(path)
    assert (target.host, target.port, target.token) == ("127.0.0.1", 6443, "secret")
    assert target.tls.verify_mode == ssl.CERT_NONE
    assert not target.has_certificate


def test_a_token_in_a_file_beside_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")
    path = write(tmp_path, {"server": "https://localhost"}, {"tokenFile": "token"})
    target = load_target(path)
    assert (target.port, target.token) == (443, "secret")


@pytest.mark.parametrize(
    ("server", "is_loopback"),
    [
        ("https://127.0.0.1:1", True),
        ("https://127.9.9.9:1", True),
        ("https://[::1]:1", True),
        ("https://localhost:1", True),
        ("https://10.0.0.1:1", False),
        ("https://localhost.example:1", False),
    ],
)
def test_loopback(tmp_path: Path, server: str, is_loopback: bool) -> None:
    assert load_target(write(tmp_path, {"server": server}, {})).is_loopback is is_loopback


@pytest.mark.parametrize(
    ("cluster", "user", "message"),
    [
        ({"server": "http://127.0.0.1"}, {}, "https"),
        ({}, {}, "https"),
        ({"server": "https://127.0.0.1"}, {"exec": {}}, "credential plugins"),
    ],
)
def test_what_cannot_be_used_is_refused(
    tmp_path: Path, cluster: dict[str, Any], user: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        load_target(write(tmp_path, cluster, user))


def test_an_unknown_context_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, {"server": "https://127.0.0.1"}, {})
    with pytest.raises(ConfigError, match="no 'other' in its contexts"):
        load_target(path, "other")


def test_a_broken_certificate_is_refused(tmp_path: Path) -> None:
    data = base64.b64encode(b"not a certificate").decode()
    user = {"client-certificate-data": data, "client-key-data": data}
    with pytest.raises(ssl.SSLError):
        load_target(write(tmp_path, {"server": "https://127.0.0.1"}, user))
