"""The sets of the mode ipvs as ``ipset`` reads and prints them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.proxy.ipvs import sets
from pybernetes.node.proxy.ipvs.sets import Entry

SAVED = """create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 1048576 bucketsize 12 initval 0x6f1e51a5
add KUBE-CLUSTER-IP 10.96.0.10,tcp:80
add KUBE-CLUSTER-IP 10.96.0.10,udp:53
create KUBE-6-CLUSTER-IP hash:ip,port family inet6 hashsize 1024 maxelem 1048576 bucketsize 12 initval 0x1f2a3b4c
add KUBE-6-CLUSTER-IP fd00:96::10,tcp:80
create KUBE-HEALTH-CHECK-NODE-PORT bitmap:port range 0-65535
add KUBE-HEALTH-CHECK-NODE-PORT 31000
create of-somebody-else hash:ip family inet
add of-somebody-else 10.96.0.10
"""


def test_names_fit_into_the_kernel() -> None:
    names = [sets.name(of, family) for of in sets.TYPES for family in (4, 6)]
    assert max(map(len, names)) <= 31 and len(set(names)) == len(names)


def test_only_entries_of_ours_are_read() -> None:
    assert sets.parse(SAVED, 4) == {
        Entry(sets.CLUSTER_IP, "10.96.0.10,tcp:80"),
        Entry(sets.CLUSTER_IP, "10.96.0.10,udp:53"),
        Entry(sets.HEALTH_CHECK, "31000"),
    }
    assert sets.parse(SAVED, 6) == {Entry(sets.CLUSTER_IP, "fd00:96::10,tcp:80")}


def test_only_sets_of_ours_are_removed() -> None:
    assert sets.destruction(SAVED, 4) == [
        ("destroy", "KUBE-CLUSTER-IP"),
        ("destroy", "KUBE-HEALTH-CHECK-NODE-PORT"),
    ]
    assert sets.destruction(SAVED, 6) == [("destroy", "KUBE-6-CLUSTER-IP")]


def test_what_is_added_comes_before_what_goes() -> None:
    old, new = Entry(sets.CLUSTER_IP, "10.96.0.1,tcp:80"), Entry(sets.CLUSTER_IP, "10.96.0.2,tcp:80")
    text = sets.difference(4, [old], [new])
    assert text == "add KUBE-CLUSTER-IP 10.96.0.2,tcp:80\ndel KUBE-CLUSTER-IP 10.96.0.1,tcp:80\n"
    assert sets.difference(4, [], []) == ""


@given(
    st.sets(
        st.builds(
            Entry, st.sampled_from(sorted(sets.TYPES)), st.from_regex(r"[0-9a-f.:,/]{1,40}", fullmatch=True)
        )
    )
)
def test_what_was_written_is_read_again(entries: set[Entry]) -> None:
    assert sets.parse(sets.difference(4, [], entries), 4) == entries
