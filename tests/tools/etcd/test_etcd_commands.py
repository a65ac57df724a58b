"""The commands beside etcdctl's, on a real cluster that grows, is hurt, shrinks and is restored."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pybernetes.cmd.etcd import main
from pybernetes.control_plane.store.drivers.etcd.cluster import Member as ClusterMember
from pybernetes.tools.etcd._printing import size
from pybernetes.tools.etcd.member import advice
from tests.control_plane.store.etcd_server import Member, etcd, free_ports
from tests.support import require_program, until


def etcdctl(endpoints: str, *arguments: str) -> str:
    """Return what the original prints."""
    command = [require_program("etcdctl"), f"--endpoints={endpoints}", *arguments]
    return subprocess.run(
        command, env={"ETCDCTL_API": "3"}, stdout=subprocess.PIPE, check=True, text=True
    ).stdout


@pytest.fixture
def grown(tmp_path: Path) -> Iterator[Member]:
    """Yield a member that is not started yet, with ports of its own."""
    client, peer = free_ports(2)
    member = Member(tmp_path / "second", "second", client, peer, "")
    yield member
    member.kill()


def test_a_cluster_grows_and_shrinks(
    tmp_path: Path, grown: Member, capsys: pytest.CaptureFixture[str]
) -> None:
    """A learner is added, started and promoted; each print is etcdctl's; then it is taken out again."""

    def run(*arguments: str, code: int = 0) -> str:
        assert main([*arguments, "--endpoints", first.address]) == code
        captured = capsys.readouterr()
        return captured.err if code else captured.out

    with etcd(tmp_path / "first") as [first]:
        peer = f"http://127.0.0.1:{grown.peer_port}"
        added = run("member", "add", "second", "--peer-urls", peer, "--learner")
        assert re.match(r"Member +[0-9a-f]+ added to cluster +[0-9a-f]+\n", added)
        settings = dict(re.findall(r'^(ETCD_\w+)="(.*)"$', added, re.M))
        assert settings["ETCD_INITIAL_ADVERTISE_PEER_URLS"] == peer
        for form in ("simple", "table"):
            assert run("member", "list", "-w", form) == etcdctl(first.address, "member", "list", "-w", form)
        assert "unstarted" in run("member", "list")
        identity = added.split()[1]
        assert "can only promote a learner member which is in sync" in run(
            "member", "promote", identity, code=1
        )

        grown.initial_cluster = settings["ETCD_INITIAL_CLUSTER"]
        grown.start(state="existing", token=str(tmp_path / "first"))
        until(lambda: main(["member", "promote", identity, "--endpoints", first.address]) == 0, 60)
        capsys.readouterr()
        grown.wait_until_ready()
        listed = json.loads(run("member", "list", "-w", "json"))["members"]
        original = json.loads(etcdctl(first.address, "member", "list", "-w", "json"))["members"]
        assert listed == original

        health = run("endpoint", "health", "--cluster")
        assert health.count("is healthy: successfully committed proposal: took = ") == 2
        ours = json.loads(run("endpoint", "status", "--cluster", "-w", "json"))
        wanted = json.loads(etcdctl(first.address, "endpoint", "status", "--cluster", "-w", "json"))
        for states in (ours, wanted):
            for state in states:
                # What goes on growing while we ask.
                for name in ("raftIndex", "raftAppliedIndex", "dbSize", "dbSizeInUse"):
                    assert state["Status"].pop(name) > 0
        assert ours == wanted
        rows = run("endpoint", "status", "--cluster").splitlines()
        assert sorted(row.split(", ")[4] for row in rows) == ["false", "true"]
        finished = run("defrag", "--cluster").splitlines()
        assert finished[-1] == f"Finished defragmenting etcd member[{first.address}]" and len(finished) == 2

        grown.kill()
        assert "is unhealthy: failed to commit proposal: context deadline exceeded" in run(
            "endpoint", "health", code=1
        )
        grown.start(state="existing", token=str(tmp_path / "first"))
        grown.wait_until_ready()
        assert re.match(r"Member +[0-9a-f]+ removed from cluster", run("member", "remove", identity))
        only = json.loads(run("member", "list", "-w", "json"))["members"][0]["ID"]
        assert "it is the only member" in run("member", "remove", f"{only:x}", code=1)
        assert run("alarm", "list") == run("alarm", "disarm") == ""


def test_alarms_are_listed_and_disarmed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A member beyond its quota raises one, which health and status tell, until it is disarmed."""
    with etcd(tmp_path, arguments=["--quota-backend-bytes", "100000"]) as [member]:
        flags = ["--endpoints", member.address]
        put = [require_program("etcdctl"), f"--endpoints={member.address}", "put", "key", "x" * 60_000]
        until(
            lambda: (
                subprocess.run(put, env={"ETCDCTL_API": "3"}, capture_output=True, check=False).returncode
                != 0
            ),
            60,
        )
        assert main(["alarm", "list", *flags]) == 0
        assert re.fullmatch(r"memberID:\d+ alarm:NOSPACE\n", capsys.readouterr().out)
        assert main(["endpoint", "health", *flags]) == 1
        assert "Active Alarm(s): NOSPACE" in capsys.readouterr().err
        assert main(["alarm", "disarm", *flags]) == main(["endpoint", "health", *flags]) == 0
        capsys.readouterr()
        assert main(["alarm", "list", *flags]) == 0
        assert capsys.readouterr().out == ""


def test_a_snapshot_becomes_a_member(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was in etcd is in the cluster that is made from the snapshot; one of ours takes no members."""
    file = str(tmp_path / "snapshot")
    with etcd(tmp_path / "old") as [member]:
        etcdctl(member.address, "put", "/registry/a", "b")
        assert main(["snapshot", "save", file, "--endpoints", member.address]) == 0
    client, peer = free_ports(2)
    restored = Member(tmp_path / "new", "restored", client, peer, f"restored=http://127.0.0.1:{peer}")
    arguments = ["snapshot", "restore", file, "--data-dir", str(tmp_path / "new" / "restored")]
    arguments += ["--name=restored", f"--initial-cluster={restored.initial_cluster}"]
    arguments += [f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}", "--initial-cluster-token=new"]
    assert main(arguments) == 0
    assert "keys at revision 2 to" in capsys.readouterr().out
    assert main(arguments) == 1  # it is there already
    assert "Error: " in capsys.readouterr().err
    try:
        restored.start()
        restored.wait_until_ready()
        assert etcdctl(restored.address, "get", "/registry/a") == "/registry/a\nb\n"
    finally:
        restored.kill()


def test_nobody_answers(capsys: pytest.CaptureFixture[str]) -> None:
    """Each endpoint that is away is named."""
    flags = ["--endpoints", "127.0.0.1:1,127.0.0.1:2"]
    assert main(["endpoint", "health", *flags]) == main(["endpoint", "status", *flags]) == 1
    text = capsys.readouterr().err
    assert text.count("http://127.0.0.1:1") >= 2 and text.count("http://127.0.0.1:2") >= 2
    with pytest.raises(SystemExit):
        main(["member", "remove", "not-hexadecimal"])


@pytest.mark.parametrize(
    ("voters", "learners", "said"), [(1, 0, False), (2, 0, True), (2, 1, True), (3, 1, False), (4, 0, True)]
)
def test_advice(voters: int, learners: int, said: bool) -> None:
    """An even number of votes is commented on."""
    members = [ClusterMember(n, f"m{n}", (), (), n >= voters) for n in range(voters + learners)]
    assert bool(advice(members)) is said


def test_sizes() -> None:
    """Powers of 1000, as etcdctl writes them."""
    numbers = [0, 9, 10, 999, 1000, 20_480, 2_105_344, 48_082_944, 3_000_000_000]
    assert [size(n) for n in numbers] == [
        "0 B", "9 B", "10 B", "999 B", "1.0 kB", "20 kB", "2.1 MB", "48 MB", "3.0 GB",
    ]  # fmt: skip
