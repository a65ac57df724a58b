"""The steps that make the kernel match in the mode ipvs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.node.proxy.ipvs import sets
from pybernetes.node.proxy.ipvs.plan import Desired, Present, Touched, carried_out
from pybernetes.node.proxy.ipvs.sets import Entry
from pybernetes.node.proxy.ipvs.virtual_servers import (
    NOTHING,
    Address,
    RealServer,
    VirtualServer,
    Wanted,
)

ADDRESSES = [Address("tcp", f"10.96.0.{number}", 80) for number in (1, 2)]
REAL = [RealServer(f"10.244.0.{number}", 8080) for number in (2, 3)]


def asked(address: Address, *real: RealServer, scheduler: str = "rr") -> Wanted:
    place = sets.at(address.ip, address.protocol, address.port)
    return Wanted(
        {address: (VirtualServer(scheduler), real)}, (address.ip,), (Entry(sets.CLUSTER_IP, place),)
    )


def step(desired: Desired, present: Present, key: str, wanted: Wanted) -> object:
    touched = Touched()
    desired.set(key, wanted, touched)
    plan = desired.plan(present, touched)
    carried_out(present, plan)
    return plan


def test_only_what_differs_changes() -> None:
    desired, present = Desired(), Present()
    first = step(desired, present, "web", asked(ADDRESSES[0], *REAL))
    assert first.put and len(first.put_real) == 2 and first.bind == ["10.96.0.1"]  # type: ignore[attr-defined]
    again = step(desired, present, "web", asked(ADDRESSES[0], *REAL))
    assert not any(vars(again).values())
    fewer = step(desired, present, "web", asked(ADDRESSES[0], REAL[1]))
    assert {name for name, value in vars(fewer).items() if value} == {"end_real"}
    gone = step(desired, present, "web", NOTHING)
    assert {name for name, value in vars(gone).items() if value} == {"unbind", "remove", "remove_entries"}
    assert present == Present(real={})


def test_what_several_ask_for_goes_with_the_last() -> None:
    desired, present = Desired(), Present()
    step(desired, present, "one", asked(ADDRESSES[0], REAL[0]))
    other = Wanted({Address("tcp", "10.96.0.1", 81): (VirtualServer(), ())}, ("10.96.0.1",), ())
    step(desired, present, "two", other)
    step(desired, present, "one", NOTHING)
    assert present.bound == {"10.96.0.1"} and list(present.servers) == [Address("tcp", "10.96.0.1", 81)]


def test_of_two_that_ask_for_one_address_the_first_has_it() -> None:
    desired, present = Desired(), Present()
    step(desired, present, "first", asked(ADDRESSES[0], REAL[0]))
    step(desired, present, "second", asked(ADDRESSES[0], REAL[1], scheduler="lc"))
    assert present.real[ADDRESSES[0]] == {REAL[0]}
    step(desired, present, "first", NOTHING)
    assert present.real[ADDRESSES[0]] == {REAL[1]} and present.servers[ADDRESSES[0]].scheduler == "lc"


_WANTED = st.one_of(
    st.just(NOTHING),
    st.builds(
        lambda address, real, scheduler: asked(address, *real, scheduler=scheduler),
        st.sampled_from(ADDRESSES), st.lists(st.sampled_from(REAL), unique=True), st.sampled_from(["rr", "lc"]),
    ),
)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), _WANTED), max_size=12))
@settings(max_examples=100, deadline=None)
def test_changes_lead_where_writing_everything_does(changes: list[tuple[str, Wanted]]) -> None:
    desired, present, current = Desired(), Present(), {}
    for key, wanted in changes:
        step(desired, present, key, wanted)
        current[key] = wanted
    # Somebody who starts anew and finds all this has nothing to do.
    touched = Touched(set(present.servers), set(present.bound), set(present.entries))
    for key, wanted in current.items():
        desired.set(key, wanted, touched)
    assert not any(vars(desired.plan(present, touched)).values())
    assert present.entries == {entry for wanted in current.values() for entry in wanted.entries}
    assert present.bound == {ip for wanted in current.values() for ip in wanted.bound}
    assert set(present.servers) == {address for wanted in current.values() for address in wanted.servers}
