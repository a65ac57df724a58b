"""kubeconfig files, in-cluster configuration and the credentials that they name."""

from __future__ import annotations

import base64
import os
import stat
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from pybernetes.client import Forbidden, Unauthorized
from pybernetes.client.credentials import Authority, Certificate, CredentialError, Exec, TokenFile
from pybernetes.client.kubeconfig import ConfigError, from_value, in_cluster, load, read
from pybernetes.client.kubeconfig_files import merge
from pybernetes.client.refs import NAMESPACES
from pybernetes.lib.clock import ManualClock
from pybernetes.lib.tls import tls
from tests.cluster import TOKEN, Cluster


def config(cluster: Cluster, user: dict[str, Any], **more: Any) -> dict[str, Any]:
    where = {"server": cluster.url, "certificate-authority": str(cluster.directory / "ca.crt"), **more}
    return {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": where}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "team"}}],
    }


async def works(value: dict[str, Any]) -> None:
    async with from_value(value).client() as client:
        assert client.namespace == "team"
        assert len((await client.list(NAMESPACES)).items) >= 4


def script(path: Path, text: str) -> str:
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def credential(**status: Any) -> str:
    value = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": status}
    return orjson.dumps(value).decode()


async def test_every_way_to_prove_oneself(tmp_path: Path) -> None:
    async with Cluster() as cluster:
        authority = tls.Pair(
            (cluster.directory / "ca.crt").read_bytes(), (cluster.directory / "ca.key").read_bytes()
        )
        pair = tls.issue(authority, "root", organizations=["system:masters"], client=True)
        (tmp_path / "client.crt").write_bytes(pair.certificate)
        (tmp_path / "client.key").write_bytes(pair.key)
        (tmp_path / "token").write_text(f"{TOKEN}\n")
        data = {
            name: base64.b64encode(text).decode() for name, text in (("c", pair.certificate), ("k", pair.key))
        }
        await works(config(cluster, {"token": TOKEN}))
        await works(config(cluster, {"tokenFile": str(tmp_path / "token")}))
        await works(config(cluster, {"client-certificate": str(tmp_path / "client.crt"),
                                     "client-key": str(tmp_path / "client.key")}))  # fmt: skip
        await works(config(cluster, {"client-certificate-data": data["c"], "client-key-data": data["k"]}))
        run = {"apiVersion": "client.authentication.k8s.io/v1", "command": script(tmp_path / "one", f"print({credential(token=TOKEN)!r})")}  # fmt: skip
        await works(config(cluster, {"exec": {**run, "interactiveMode": "Never"}}))
        pems = credential(clientCertificateData=pair.certificate.decode(), clientKeyData=pair.key.decode())
        run["command"] = script(tmp_path / "two", f"print({pems!r})")
        await works(config(cluster, {"exec": {**run, "interactiveMode": "Never"}}))
        inline = config(cluster, {"token": TOKEN})
        text = (cluster.directory / "ca.crt").read_bytes()
        del inline["clusters"][0]["cluster"]["certificate-authority"]
        inline["clusters"][0]["cluster"]["certificate-authority-data"] = base64.b64encode(text).decode()
        await works(inline)
        del inline["clusters"][0]["cluster"]["certificate-authority-data"]
        with pytest.raises(OSError, match="certificate verify failed"):
            await works(inline)
        inline["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = True
        await works(inline)
        with pytest.raises(Unauthorized):
            await works(config(cluster, {"token": "wrong"}))
        with pytest.raises(Forbidden):
            await works(config(cluster, {}))


async def test_a_program_is_asked_again_when_its_answer_expires(tmp_path: Path) -> None:
    text = f"""
import os, json, pathlib
count = pathlib.Path({str(tmp_path / "count")!r})
number = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(number))
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
assert info["spec"] == {{"interactive": False, "cluster": {{"server": "https://s"}}}}, info
assert os.environ["EXTRA"] == "yes"
print(json.dumps({{"kind": "ExecCredential", "apiVersion": info["apiVersion"],
    "status": {{"token": "t%d" % number, "expirationTimestamp": "2027-01-15T08:00:%02dZ" % (10 * number)}}}}))
"""
    run = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": script(tmp_path / "plugin", text),
        "env": [{"name": "EXTRA", "value": "yes"}],
        "provideClusterInfo": True,
        "interactiveMode": "Never",
    }
    clock = ManualClock(1_800_000_000)  # 2027-01-15T08:00:00Z
    credentials = Exec(Authority(), run, {"server": "https://s"}, clock)
    assert await credentials.headers() == {b"authorization": b"Bearer t1"}
    await clock.advance(9)
    assert await credentials.headers() == {b"authorization": b"Bearer t1"}
    await clock.advance(2)
    assert await credentials.headers() == {b"authorization": b"Bearer t2"}
    assert credentials.refused()
    assert await credentials.headers() == {b"authorization": b"Bearer t3"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("print('nonsense')", "json parse error"),
        ("print('{}')", "plugin returned version"),
        (f"print({credential()!r})", "didn't return a token or cert/key pair"),
        (f"print({credential(clientCertificateData='x')!r})", "only certificate or key"),
        (f"print({credential(token='x').replace('/v1', '/v1beta1')!r})", "plugin returned version"),
        ("raise SystemExit(3)", "exit code 3"),
    ],
)
async def test_programs_that_fail(tmp_path: Path, text: str, message: str) -> None:
    run = {"apiVersion": "client.authentication.k8s.io/v1", "command": script(tmp_path / "plugin", text)}
    with pytest.raises(CredentialError, match=message):
        await Exec(Authority(), {**run, "interactiveMode": "Never"}, {}).headers()


async def test_a_program_that_is_missing_is_named_with_its_hint() -> None:
    run = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "no-such-program",
        "installHint": "get it",
    }
    with pytest.raises(CredentialError, match=r"no-such-program not found\n.*get it"):
        await Exec(Authority(), {**run, "interactiveMode": "Never"}, {}).headers()


async def test_a_token_file_is_read_again(tmp_path: Path) -> None:
    clock, path = ManualClock(), tmp_path / "token"
    path.write_text("one")
    credentials = TokenFile(Authority(), path, clock)
    assert await credentials.headers() == {b"authorization": b"Bearer one"}
    path.write_text("two")
    assert await credentials.headers() == {b"authorization": b"Bearer one"}
    await clock.advance(61)
    assert await credentials.headers() == {b"authorization": b"Bearer two"}
    assert not credentials.refused()
    path.write_text("three")
    await credentials.headers()
    path.write_text("four")
    assert credentials.refused()
    path.unlink()
    with pytest.raises(CredentialError):
        await TokenFile(Authority(), path, clock).headers()


async def test_a_certificate_file_is_read_again(tmp_path: Path) -> None:
    authority = tls.create_authority("test")
    clock = ManualClock()
    certificate, key = tmp_path / "c", tmp_path / "k"

    def write(name: str) -> None:
        pair = tls.issue(authority, name, client=True)
        certificate.write_bytes(pair.certificate)
        key.write_bytes(pair.key)

    write("one")
    trust = Certificate(Authority(), certificate, key, clock)
    first = trust.context()
    write("two")
    assert trust.context() is first
    await clock.advance(11)
    second = trust.context()
    assert second is not first
    certificate.write_text("half of")  # in the middle of a replacement
    await clock.advance(11)
    assert trust.context() is second


def test_a_pod_finds_its_configuration(tmp_path: Path) -> None:
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    with pytest.raises(ConfigError, match="token does not exist"):
        in_cluster(tmp_path, environment)
    (tmp_path / "token").write_text("t")
    (tmp_path / "namespace").write_text("team\n")
    pod_config = in_cluster(tmp_path, environment)
    assert (pod_config.server, pod_config.namespace) == ("https://[fd00::1]:443", "team")
    with pytest.raises(ConfigError, match="must be defined"):
        in_cluster(tmp_path, {})


def test_files_are_found_merged_and_their_paths_resolved(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "deep" / "two"
    two.parent.mkdir()
    one.write_text(
        "current-context: a\n"
        "clusters: [{name: c, cluster: {server: 'https://one', certificate-authority: ca.crt}}]\n"
        "contexts: [{name: a, context: {cluster: c, user: u}}]\n"
    )
    two.write_text(
        "current-context: b\n"
        "clusters: [{name: c, cluster: {server: 'https://two'}}]\n"
        "contexts: [{name: b, context: {cluster: c, user: u}}]\n"
        "users: [{name: u, user: {tokenFile: token, exec: {command: ./run}, as: jane, as-groups: [x, 'y']}}]\n"
    )
    value = merge([read(one), read(two)])
    assert value["current-context"] == "a" and len(value["clusters"]) == 1
    assert value["clusters"][0]["cluster"]["certificate-authority"] == str(tmp_path / "ca.crt")
    user = value["users"][0]["user"]
    assert user["tokenFile"] == str(tmp_path / "deep" / "token")
    assert Path(user["exec"]["command"]) == tmp_path / "deep" / "run"
    listed = load(environment={"KUBECONFIG": f"{one}{os.pathsep}{two}", "HOME": "/nowhere"}, context="b")
    assert (listed.server, listed.context) == ("https://one", "b")
    assert listed.headers == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "x"),
        ("Impersonate-Group", "y"),
    )
    with pytest.raises(ConfigError, match="name a file, or set KUBECONFIG"):
        load(environment={"HOME": "/nowhere"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"current-context": ""}, "name a context"),
        ({"current-context": "other"}, "context 'other' does not exist"),
        ({"clusters": []}, "cluster 'c' does not exist"),
        ({"clusters": [{"name": "c", "cluster": {}}]}, "has no server"),
        ({"clusters": [{"name": "c", "cluster": {"server": "https://x", "proxy-url": "http://y"}}]}, "proxy-url"),
        ({"users": []}, "user 'u' does not exist"),
        ({"users": [{"name": "u", "user": {"client-certificate": "x"}}]}, "needs both"),
        ({"users": [{"name": "u", "user": {"auth-provider": {"name": "gcp"}}}]}, "auth-provider, which is not supported"),
        ({"users": [{"name": "u", "user": {"exec": {"command": "x"}}}]}, "invalid apiVersion"),
        ({"users": [{"name": "u", "user": {"client-key-data": "ÿ"}}]}, "client-key-data is not base64"),
    ],
)  # fmt: skip
def test_mistakes_are_named(change: dict[str, Any], message: str) -> None:
    value = {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": "https://x"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
    }
    with pytest.raises(ConfigError, match=message):
        from_value({**value, **change})


def test_a_file_that_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "config"
    with pytest.raises(ConfigError, match="cannot be read"):
        read(path)
    path.write_text("a: [")
    with pytest.raises(ConfigError, match="error loading config file"):
        read(path)
    path.write_text("kind: Pod")
    with pytest.raises(ConfigError, match="is registered for version"):
        read(path)
