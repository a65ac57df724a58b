"""Parts of kubeadm that decide: tokens, signatures, shared certificates, phases, command lines, versions."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from pybernetes.control_plane.controllers._tokens.bootstrap import detached_signature
from pybernetes.lib.tokens import jose
from pybernetes.tools.kubeadm import discovery, kubelet_files, shared_certificates, tokens, workflow
from pybernetes.tools.kubeadm.checks.check import Findings, ignored_names, problem, run
from pybernetes.tools.kubeadm.command_line import Arguments
from pybernetes.tools.kubeadm.commands.token import kubeconfig_path, left
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.leftovers import Leftovers
from pybernetes.tools.kubeadm.main import main
from pybernetes.tools.kubeadm.phases.init import PHASES
from pybernetes.tools.kubeadm.phases.reset import cleanup_node
from pybernetes.tools.kubeadm.upgrade import policy
from pybernetes.tools.kubeadm.workflow import Phase

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)


def test_a_token_survives_its_secret() -> None:
    token = {
        "token": tokens.generate(),
        "ttl": "24h0m0s",
        "usages": ["signing"],
        "groups": ["system:bootstrappers:a"],
    }
    found = tokens.from_secret(tokens.secret(token, NOW))
    assert found["token"] == token["token"] and found["expires"] == "2026-01-03T03:04:05Z"
    assert found["usages"] == ["signing"] and found["groups"] == ["system:bootstrappers:a"]
    assert tokens.expiration({"ttl": "0s"}, NOW) == ""
    assert (
        left(found["expires"], NOW) == "1d"
        and left("", NOW) == "<forever>"
        and left("2020-01-01T00:00:00Z", NOW) == "<invalid>"
    )


def test_reset_asks_the_runtime_of_the_kubelet(tmp_path: Path) -> None:
    assert kubelet_files.own_socket(tmp_path) == ""
    path = tmp_path / "instance-config.yaml"
    path.write_text("containerRuntimeEndpoint: unix:///run/other.sock\n")
    assert kubelet_files.own_socket(tmp_path) == "unix:///run/other.sock"
    for broken in ("- a list", "containerRuntimeEndpoint: [1]", "{", ""):
        path.write_text(broken)
        assert kubelet_files.own_socket(tmp_path) == ""


def test_a_dry_run_is_what_the_flag_says_or_else_the_configuration() -> None:
    silent, spoken = frozenset[str](), frozenset(("dry-run",))
    assert Arguments(dry_run=False, given=silent).is_dry_run({"dryRun": True})
    assert not Arguments(dry_run=False, given=silent).is_dry_run({})
    assert not Arguments(dry_run=False, given=spoken).is_dry_run({"dryRun": True})
    assert Arguments(dry_run=True, given=spoken).is_dry_run({})


def test_where_the_kubeconfig_of_tokens_is(tmp_path: Path) -> None:
    own, home = tmp_path / "own", tmp_path / "home"
    (home / ".kube").mkdir(parents=True)
    environment = {"KUBECONFIG": str(own), "HOME": str(home)}
    default = Arguments(kubeconfig=str(tmp_path / "admin.conf"), given=frozenset())
    given = Arguments(kubeconfig="/x", given=frozenset(("kubeconfig",)))
    assert kubeconfig_path(given, environment) == Path("/x")
    assert kubeconfig_path(default, environment) == own  # none is there
    (tmp_path / "admin.conf").touch()
    assert kubeconfig_path(default, environment) == tmp_path / "admin.conf"
    (home / ".kube" / "config").touch()
    assert kubeconfig_path(default, {"HOME": str(home)}) == home / ".kube" / "config"
    own.touch()
    assert kubeconfig_path(default, environment) == own


@pytest.mark.parametrize("group", ["system:masters", "system:bootstrappers:", "system:bootstrappers:A", "x"])
def test_groups_that_tokens_cannot_give(group: str) -> None:
    assert tokens.problem_with_group(group)


def test_cluster_info_is_believed_with_the_right_token_only() -> None:
    signature = detached_signature("content", "abcdef", "0123456789abcdef")
    valid = discovery.signature_is_valid
    assert valid(signature, "content", "abcdef", "0123456789abcdef")
    assert not valid(signature, "other", "abcdef", "0123456789abcdef")
    assert not valid(signature, "content", "abcdef", "0000000000000000")
    assert not valid(signature, "content", "zzzzzz", "0123456789abcdef")
    none = signature.replace(signature.partition("..")[0], "eyJhbGciOiJub25lIiwia2lkIjoiYWJjZGVmIn0")
    deep = jose.encode(b"[" * 100_000)
    for wrong in ("", "..", "a..b", "é..", none, f"{deep}..x"):
        assert not valid(wrong, "content", "abcdef", "0123456789abcdef")


@pytest.mark.parametrize("found", [None, [], "x", {}, {"data": ["a"]}, {"data": {"a": 1, "kubeconfig": {}}}])
def test_what_a_server_that_nobody_trusts_yet_may_say(found: Any) -> None:
    assert discovery.texts(found) == {}
    assert discovery.texts({"data": {"a": "b", "c": 1}}) == {"a": "b"}


def test_hashes_of_authorities() -> None:
    assert discovery._pins(["SHA256:" + "Ab" * 32]) == {"sha256:" + "ab" * 32}
    for wrong in ("ab", "md5:ab", "sha256:zz", "sha256:abcd"):
        with pytest.raises(KubeadmError, match="invalid discovery token CA certificate hash"):
            discovery._pins([wrong])


def test_shared_certificates_open_with_their_key_only() -> None:
    key = bytes.fromhex(shared_certificates.new_key())
    data = shared_certificates.encrypt(b"secret", key)
    assert b"secret" not in data and shared_certificates.decrypt(data, key) == b"secret"
    for wrong in (bytes(32), key[::-1]):
        with pytest.raises(KubeadmError, match="message authentication failed"):
            shared_certificates.decrypt(data, wrong)
    with pytest.raises(KubeadmError):
        shared_certificates.decrypt(b"", key)


async def test_phases_run_in_order_without_the_skipped() -> None:
    ran: list[str] = []

    def step(name: str) -> Any:
        async def work(data: object) -> None:
            ran.append(name)

        return work

    inner = (Phase("x", "", step("b/x")), Phase("y", "", step("b/y")))
    phases = (Phase("a", "", step("a")), Phase("b", "", step("b"), inner), Phase("c", "", step("c")))
    await workflow.run(phases, None, ["a", "b/x"])
    assert ran == ["b", "b/y", "c"]
    ran.clear()
    await workflow.run_one(phases, ["b"], None)
    await workflow.run_one(phases, ["b", "y"], None)
    assert ran == ["b", "b/x", "b/y", "b/y"]  # what stands above a phase is not run with it
    with pytest.raises(KubeadmError, match="invalid phase name: d"):
        await workflow.run(phases, None, ["d"])


async def test_what_fails_names_its_phase() -> None:
    async def fail(data: object) -> None:
        raise KubeadmError("no")

    phases = (Phase("a", "", None, (Phase("x", "", fail),)),)
    with pytest.raises(KubeadmError, match=r"\Aerror execution phase a/x: no\Z"):
        await workflow.run(phases, None)


async def test_an_optional_phase_runs_only_if_it_is_named() -> None:
    ran: list[str] = []

    async def work(data: object) -> None:
        ran.append("ran")

    phases = (Phase("a", "", None, (Phase("b", "", work, optional=True),)),)
    await workflow.run(phases, None)
    await workflow.run_one(phases, ["a"], None)
    assert ran == []
    await workflow.run_one(phases, ["a", "b"], None)
    assert ran == ["ran"]


def test_the_phases_of_init() -> None:
    assert [phase.name for phase in PHASES] == [
        "preflight", "certs", "kubeconfig", "etcd", "control-plane", "kubelet-start", "wait-control-plane", "upload-config",
        "upload-certs", "mark-control-plane", "bootstrap-token", "kubelet-finalize", "addon", "show-join-command",
    ]  # fmt: skip


def test_errors_become_messages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bogus"]) == 1
    assert capsys.readouterr().err.startswith('error: unknown command "bogus" for "kubeadm"\n')
    assert main(["token", "create", "bad"]) == 1
    assert 'the bootstrap token "bad" was not of the form' in capsys.readouterr().err
    assert main(["version", "-o", "short"]) == 0 and capsys.readouterr().out == "v1.37.0\n"


class Failing:
    name = "Port-1"

    async def check(self) -> Findings:
        return problem("Port 1 is in use")


async def test_checks(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KubeadmError, match="preflight checks failed"):
        await run([Failing()], frozenset())
    assert "\t[ERROR Port-1]: Port 1 is in use\n[preflight] If you know" in capsys.readouterr().err
    await run([Failing()], ignored_names(["port-1"]))
    await run([Failing()], ignored_names(["all"]))
    assert capsys.readouterr().err.count("[WARNING Port-1]") == 2
    with pytest.raises(KubeadmError, match="don't specify individual checks"):
        ignored_names(["all", "Swap"])


def test_what_came_since_is_removed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "old").write_text("old")
    leftovers = Leftovers([tmp_path / "kept", tmp_path / "new"])
    (tmp_path / "kept" / "fresh").write_text("")
    (tmp_path / "new" / "deep").mkdir(parents=True)
    (tmp_path / "new" / "deep" / "file").write_text("")
    leftovers.remove()
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["kept", "kept/old"]


@pytest.mark.parametrize(
    ("target", "current", "kubelets", "mandatory", "skippable"),
    [
        ("v1.37.0", "v1.36.2", ["v1.36.2"], 0, 0),
        ("v1.37.1", "v1.37.0", [], 0, 1),
        ("v1.38.0", "v1.37.0", [], 1, 0),
        ("v1.37.0", "v1.35.0", [], 1, 0),
        ("v1.35.0", "v1.37.0", [], 2, 1),
        ("v1.37.0", "v1.37.0", ["v1.33.9"], 0, 1),
        ("v1.37.0-rc.1", "v1.36.0", [], 0, 1),
    ],
)
def test_upgrades(target: str, current: str, kubelets: list[str], mandatory: int, skippable: int) -> None:
    found = policy.problems(target, current, "v1.37.0", kubelets)
    assert (len(found.mandatory), len(found.skippable)) == (mandatory, skippable)
    if mandatory or skippable:
        with pytest.raises(KubeadmError, match="the version argument is invalid due to these"):
            policy.check(found, force=False)
    if not mandatory:
        assert policy.check(found, force=True).count("\t- ") == skippable


@pytest.mark.parametrize(
    "config",
    [{}, {"clusters": "abc"}, {"clusters": {"a": 1}}, {"clusters": [1]}, {"clusters": [{"cluster": []}]}],
)
def test_kubeconfigs_that_name_no_cluster(config: dict[str, Any]) -> None:
    with pytest.raises(KubeadmError, match="names no cluster"):
        discovery.cluster_of(config)


def test_the_folders_of_the_whole_machine_are_not_emptied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    cleanup_node._empty(tmp_path)
    assert list(tmp_path.iterdir()) == []
    cleanup_node._empty(Path("/proc"))
    assert "belongs to the whole machine" in capsys.readouterr().out
