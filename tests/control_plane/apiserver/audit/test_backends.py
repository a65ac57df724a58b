"""Where audit events go: files that fill up, buffers, events that are too large."""

from __future__ import annotations

import asyncio
import gzip
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from pybernetes.cmd.kube_apiserver import parser
from pybernetes.control_plane.apiserver.audit import setup
from pybernetes.control_plane.apiserver.audit.backends import common, log
from pybernetes.control_plane.apiserver.audit.backends.common import Buffer, Item, Losses, Options
from pybernetes.control_plane.apiserver.audit.event import encode
from tests.support import eventually

EVENT: dict[str, Any] = {
    "auditID": "7", "stage": "ResponseComplete", "verb": "get", "requestURI": "/api/v1/pods?limit=1",
    "user": {"username": "jane", "groups": ["a", "b"]}, "sourceIPs": ["10.0.0.1"], "userAgent": "x",
    "requestReceivedTimestamp": "2026-01-02T03:04:05.000006Z", "responseStatus": {"metadata": {}, "code": 200},
}  # fmt: skip


def item(**more: Any) -> Item:
    event = {**EVENT, **more}
    return event, encode(event)


async def test_a_full_file_makes_room_for_another(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "audit.log"
    files = log.Files(path, 100, 2, 0, compress=True)
    files.open()
    for number in range(6):
        files.write(b"%060d\n" % number)
    files.close()
    assert path.read_bytes() == b"%060d\n" % 5
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700
    await eventually(lambda: len(list(path.parent.glob("audit-*.log.gz"))) == 2)
    await eventually(lambda: not list(path.parent.glob("audit-*.log")))
    old = sorted(path.parent.glob("audit-*.log.gz"))
    assert [gzip.decompress(old_file.read_bytes()) for old_file in old] == [b"%060d\n" % 3, b"%060d\n" % 4]
    assert {stat.S_IMODE(os.stat(old_file).st_mode) for old_file in old} == {0o600}


def test_old_files_go_and_others_stay(tmp_path: Path) -> None:
    names = ["audit-2020-01-01T00-00-00.000.log", "audit-notes.log", "audit-2020-01-01T00-00-00.000.txt"]
    for name in names:
        (tmp_path / name).write_text("x")
    log.Files(tmp_path / "audit.log", 100, 0, 7, compress=False).tidy()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])


def test_the_line_of_the_old_format() -> None:
    assert log.legacy(EVENT) == (
        '2026-01-02T03:04:05.000006Z AUDIT: id="7" stage="ResponseComplete" ip="10.0.0.1" method="get" user="jane" '
        'groups="\\"a\\",\\"b\\"" as="<self>" asgroups="<lookup>" user-agent="x" namespace="<none>" '
        'uri="/api/v1/pods?limit=1" response="200"'
    )


def test_large_events_lose_their_objects_first() -> None:
    small, large = item(), item(requestObject={"a": "x" * 2000})
    assert common.shortened(small, 1000) is small
    cut = common.shortened(large, 1000)
    assert cut is not None
    assert "requestObject" not in cut[0]
    assert cut[0]["annotations"] == {"audit.k8s.io/truncated": "true"}
    assert cut[1] == encode(cut[0])
    assert common.shortened(item(requestURI="x" * 2000), 1000) is None


async def test_batches_are_full_or_old_and_too_many_events_are_lost() -> None:
    batches: list[int] = []

    async def deliver(items: list[Item]) -> None:
        batches.append(len(items))

    losses = Losses("test")
    buffer = Buffer(Options("batch", buffer_size=7, max_size=3, max_wait=3600.0), deliver, losses)
    for _ in range(8):
        buffer.put(item())
    assert losses.count == 1
    buffer.start()
    await eventually(lambda: batches == [3, 3])
    await buffer.close()
    assert batches == [3, 3, 1]


async def test_a_batch_that_is_not_full_waits_no_longer_than_it_should() -> None:
    sent = asyncio.Event()

    async def deliver(items: list[Item]) -> None:
        sent.set()

    buffer = Buffer(Options("batch", max_size=100, max_wait=0.01), deliver, Losses("test"))
    buffer.start()
    buffer.put(item())
    await asyncio.wait_for(sent.wait(), 60)
    await buffer.close()


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (("--audit-log-path=a", "--audit-log-mode=often"), "invalid audit log mode often"),
        (("--audit-log-path=a", "--audit-log-format=xml"), "invalid audit log format xml"),
        (("--audit-log-path=a", "--audit-log-maxage=-1"), "--audit-log-maxage -1 can't be a negative number"),
        (("--audit-log-path=a", "--audit-log-version=audit.k8s.io/v2"), "invalid group version"),
        (
            ("--audit-log-path=a", "--audit-log-mode=batch", "--audit-log-batch-buffer-size=0"),
            "invalid audit batch log buffer size 0, must be a positive number",
        ),
        (
            ("--audit-log-path=a", "--audit-log-truncate-max-batch-size=10"),
            "must be greater than max event size (102400)",
        ),
        (("--audit-webhook-config-file=/nothing",), "initializing audit webhook"),
    ],
)
def test_flags_that_make_no_sense(flags: tuple[str, ...], problem: str) -> None:
    with pytest.raises(ValueError) as told:
        setup.auditor(parser().parse_args(list(flags)))
    assert problem in str(told.value)


def test_nothing_is_noted_without_a_policy_or_a_backend(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
    assert setup.auditor(parser().parse_args([f"--audit-policy-file={policy}"])) is None
    assert setup.auditor(parser().parse_args([f"--audit-log-path={tmp_path / 'log'}"])) is None
