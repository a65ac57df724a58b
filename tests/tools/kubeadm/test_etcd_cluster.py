"""Members of etcd that a machine asks before it joins them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.control_plane.store.drivers.etcd import cluster
from pybernetes.control_plane.store.drivers.etcd.cluster import Member, MemberStatus
from pybernetes.control_plane.store.protocol import StoreError, Unavailable
from pybernetes.tools.kubeadm.etcd_cluster import Members, described


class Asked:
    """A client of an etcd whose members answer, complain or are silent."""

    def __init__(self, *answers: str) -> None:
        self.answers = {f"https://10.0.0.{number}:2379": answer for number, answer in enumerate(answers, 1)}

    def of(self, servers: list[str]) -> Any:
        async def close() -> None:
            pass

        return SimpleNamespace(endpoints=[SimpleNamespace(address=url) for url in servers], close=close)

    async def members(self, client: object, seconds: float) -> tuple[int, list[Member]]:
        listed = [Member(number, "m", (), (url,), False) for number, url in enumerate(self.answers)]
        return 1, [*listed, Member(9, "", ("https://10.0.0.9:2380",), (), True)]  # one that is not started

    async def status(self, endpoint: Any) -> Any:
        answer = self.answers[endpoint.address]
        if answer == "silent":
            raise Unavailable("Deadline Exceeded")
        return SimpleNamespace(errors=(answer,) if answer else ())


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        (["", "", ""], ""),
        (["", "silent", ""], ""),  # most of them are well
        ([""], ""),
        (["silent"], "the status of member https://10.0.0.1:2379 is not available: Deadline Exceeded"),
        (["", "silent"], "the status of member https://10.0.0.2:2379 is not available"),
        (
            ["", "silent", "NOSPACE"],
            "is not available.*; member https://10.0.0.3:2379 is not healthy: NOSPACE",
        ),
        ([], "no member tells"),
    ],
)
async def test_a_machine_joins_only_members_of_which_most_are_well(
    answers: list[str], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Any = Asked(*answers)
    monkeypatch.setattr(cluster, "members", asked.members)
    monkeypatch.setattr(cluster, "status", asked.status)
    members = Members(asked, seconds=-1.0)
    if not problem:
        await members.check_health()
    else:
        with pytest.raises(StoreError, match=problem):
            await members.check_health()


async def test_a_machine_does_not_join_behind_a_learner_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Any = Asked("")
    monkeypatch.setattr(cluster, "members", asked.members)
    members = Members(asked, seconds=-1.0)
    await members.wait_for_room("https://10.0.0.9:2380")  # its own, from an attempt before
    with pytest.raises(StoreError, match=r"the learner 9 \(https://10.0.0.9:2380\) does not catch up"):
        await members.wait_for_room("https://10.0.0.8:2380")


@pytest.mark.parametrize(
    ("leader", "is_learner", "errors", "text"),
    [
        (7, False, (), "leader, etcd 3.4.23, 2.1 MB"),
        (8, False, (), "follower, etcd 3.4.23, 2.1 MB"),
        (8, True, (), "learner, etcd 3.4.23, 2.1 MB"),
        (0, False, ("etcdserver: no leader",), "follower, etcd 3.4.23, 2.1 MB, etcdserver: no leader"),
        (7, False, ("memberID:7 alarm:NOSPACE ",), "leader, etcd 3.4.23, 2.1 MB, memberID:7 alarm:NOSPACE"),
    ],
)
def test_what_status_says_of_a_member(
    leader: int, is_learner: bool, errors: tuple[str, ...], text: str
) -> None:
    status = MemberStatus(
        "https://a:2379", 1, 7, "3.4.23", 2_100_000, 1, leader, is_learner, 2, 3, 3, 4, errors
    )
    assert described(status) == text
