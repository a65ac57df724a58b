"""What a node's table must hold, from the pods, namespaces and policies of the cluster; knows what changed. Pure.

Only policies that select a pod of this node have chains here, and only groups that such a policy names have sets.
Pods that the same policies select share a chain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pybernetes.node.network.policy.members import Members
from pybernetes.node.network.policy.objects import Pod
from pybernetes.node.network.policy.rules import ADMIN, BASELINE, DIRECTIONS, NETWORK, Group, Policy
from pybernetes.node.network.policy.table import LOCAL, SELF, Statement, family, short, statements

# The policies of a pod by tier: the keys in the order in which they are asked.
Profile = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
NO_PROFILE: Profile = ((), (), ())
# A chain that a profile needs: its name, the policies that it is made of, or the lines that it has instead.
_Chain = tuple[str, tuple[str, ...], tuple[Statement, ...]]


@dataclass(slots=True)
class Changes:
    """How a table differs from what it was; ``chains`` has those that are new or other than before."""

    sets: list[str] = field(default_factory=list)
    chains: dict[str, tuple[Statement, ...]] = field(default_factory=dict)
    known_chains: set[str] = field(
        default_factory=set
    )  # which of those, and of the removed, there were before
    removed: dict[str, list[str]] = field(default_factory=dict)  # elements by set or map
    added: dict[str, list[str]] = field(default_factory=dict)
    removed_chains: list[str] = field(default_factory=list)
    removed_sets: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(
            self.sets or self.chains or self.removed or self.added or self.removed_chains or self.removed_sets
        )


class State:
    """The policies of one node."""

    def __init__(self, node: str, versions: Iterable[int]) -> None:
        self.node = node
        self.members = Members(tuple(sorted(versions)))
        self.policies: dict[str, Policy] = {}
        self._by_namespace: dict[str, set[str]] = {}  # keys of NetworkPolicies
        self._wide: set[str] = set()  # keys of those that may select pods of any namespace
        self.chains: dict[str, tuple[Statement, ...]] = {}
        self.maps: dict[str, dict[str, str]] = {
            f"{direction}{version}": {}
            for direction in DIRECTIONS
            for version in self.members.versions
        }  # fmt: skip
        self.local: dict[str, Pod] = {}
        self._started: dict[str, tuple[str, tuple[str, ...]]] = {}  # uid and addresses that no status has yet
        self._profiles: dict[str, dict[str, Profile]] = {direction: {} for direction in DIRECTIONS}
        self._used: dict[tuple[str, Profile], tuple[_Chain, ...]] = {}  # profiles that local pods have
        self._owners: Counter[str] = Counter()  # how many pods have an address
        self._passed_on: set[str] = set()
        self._dirty: set[str] = set()  # local pods whose policies may be others
        self._changed: set[str] = set()  # policies
        for version in self.members.versions:
            for name in (LOCAL, SELF):
                self.members.elements.counts[f"{name}{version}"] = {}
        self._sets = set(self.members.elements.counts)  # those that the table has

    # -- what there is -----------------------------------------------------------------------------------

    def set_pod(self, key: str, pod: Pod | None) -> None:
        """Take in a pod, or that it is gone."""
        started = self._started.get(key)
        if started is not None:
            # Until a status has the new address: one that came meanwhile may still have that of an earlier sandbox.
            if pod is None or pod.finished or pod.uid != started[0] or pod.addresses == started[1]:
                del self._started[key]
            else:
                pod = pod._replace(addresses=started[1])
        namespace, _, name = key.partition("/")
        self._count_owners(self.members.pods.get(namespace, {}).get(name), pod)
        self.members.set_pod(namespace, name, pod)
        is_local = pod is not None and pod.node == self.node and bool(pod.addresses)
        old = self.local.pop(key, None)
        if is_local and pod is not None:
            self.local[key] = pod
            if old is not None and (old.labels, old.addresses) == (pod.labels, pod.addresses):
                return
        if is_local or old is not None:
            self._dirty.add(key)
            self._count_local(old, pod if is_local else None)

    def start_pod(self, key: str, addresses: tuple[str, ...]) -> bool:
        """Take in the addresses that a pod of this node starts with, before its status has any.

        Return False if the pod is unknown.
        """
        namespace, _, name = key.partition("/")
        pod = self.members.pods.get(namespace, {}).get(name)
        if pod is None:
            return False
        self._started[key] = (pod.uid, addresses)
        self.set_pod(key, pod._replace(addresses=(), node=self.node))
        return True

    def set_namespace(self, name: str, labels: Mapping[str, str] | None) -> None:
        """Take in the labels of a namespace, or that it is gone."""
        if self.members.namespaces.get(name) != labels:
            self.members.set_namespace(name, labels)
            self._dirty |= {key for key, pod in self.local.items() if pod.namespace == name}

    def set_policy(self, key: str, policy: Policy | None) -> None:
        """Take in a policy, or that it is gone."""
        old = self.policies.pop(key, None)
        if old == policy:
            if policy is not None:
                self.policies[key] = policy
            return
        if old is not None:
            self._wide.discard(key)
            self._by_namespace.get(old.subject.namespace, set()).discard(key)
        if policy is not None:
            self.policies[key] = policy
            namespace = policy.subject.namespace
            (self._by_namespace.setdefault(namespace, set()) if namespace else self._wide).add(key)
        self._changed.add(key)
        spaces = {version.subject.namespace for version in (old, policy) if version is not None}
        self._dirty |= {name for name, pod in self.local.items() if "" in spaces or pod.namespace in spaces}

    def _count_owners(self, old: Pod | None, new: Pod | None) -> None:
        """Note the addresses that are given up, or are another pod's before the last one is known to be gone."""
        before, now = (set(pod.addresses) if pod is not None else set() for pod in (old, new))
        for address in now - before:
            if self._owners[address]:
                self._passed_on.add(address)
            self._owners[address] += 1
        for address in before - now:
            self._owners[address] -= 1
            if not self._owners[address]:
                del self._owners[address]
                self._passed_on.add(address)

    def passed_on(self) -> set[str]:
        """Return the addresses that are no longer those of the pods that had them when this was called last."""
        addresses, self._passed_on = self._passed_on, set()
        return addresses

    def _count_local(self, old: Pod | None, new: Pod | None) -> None:
        elements = self.members.elements
        for pod, change in ((new, elements.add), (old, elements.remove)):
            for address in pod.addresses if pod is not None else ():
                if (version := family(address)) in self.members.versions:
                    change(f"{LOCAL}{version}", address)
                    change(f"{SELF}{version}", f"{address} . {address}")

    # -- what follows ------------------------------------------------------------------------------------

    def take(self) -> Changes:
        """Return how the table differs from what it was when this was called last."""
        changes = Changes()
        if self._dirty or self._changed:
            maps = {name: dict(held) for name, held in self.maps.items()}
            used = self._used.keys()
            self._choose()
            # Most changes of a pod leave all chains as they are, and with them the sets that they name.
            if self._changed or self._used.keys() != used:
                self._put_chains(changes)
            for name, held in self.maps.items():
                _compare(name, maps[name], held, changes)
        for name, element, now in self.members.elements.take():
            if name in self.members.elements.counts:
                (changes.added if now else changes.removed).setdefault(name, []).append(element)
        return changes

    def everything(self) -> Changes:
        """Return the whole table, as if there had been none."""
        self.take()
        counts = self.members.elements.counts
        maps = {
            name: [f"{key} : jump {chain}" for key, chain in held.items()] for name, held in self.maps.items()
        }
        added = {name: list(held) for name, held in counts.items() if held}
        added |= {name: held for name, held in maps.items() if held}
        return Changes(sets=sorted(self._sets), chains=dict(self.chains), added=added)

    def _choose(self) -> None:
        """Give each local pod that may have changed its chains."""
        for key in self._dirty:
            pod = self.local.get(key)
            for direction in DIRECTIONS:
                if pod is None:
                    self._profiles[direction].pop(key, None)
                else:
                    self._profiles[direction][key] = self.profile(pod, direction)
        self._dirty.clear()
        for held in self.maps.values():
            held.clear()
        used: dict[tuple[str, Profile], tuple[_Chain, ...]] = {}
        for direction in DIRECTIONS:
            for key, profile in self._profiles[direction].items():
                if profile == NO_PROFILE:
                    continue
                which = (direction, profile)
                if which not in used:
                    used[which] = self._used.get(which) or tuple(_chains_of(direction, profile))
                chain = used[which][0][0]
                for address in self.local[key].addresses:
                    if (version := family(address)) in self.members.versions:
                        self.maps[f"{direction}{version}"][address] = chain
        self._used = used

    def profile(self, pod: Pod, direction: str) -> Profile:
        """Return the policies that select a pod and are about a direction, by tier."""
        labels = self.members.namespaces.get(pod.namespace)
        keys = (*self._by_namespace.get(pod.namespace, ()), *self._wide)
        chosen = [
            policy
            for policy in map(self.policies.__getitem__, keys)
            if policy.rules(direction) is not None
            and policy.subject.has_namespace(pod.namespace, labels)
            and policy.subject.has_labels(pod.labels)
        ]
        chosen.sort(key=lambda policy: policy.order)
        admin, network, baseline = (
            tuple(policy.key for policy in chosen if policy.tier == tier)
            for tier in (ADMIN, NETWORK, BASELINE)
        )
        return admin, network, baseline

    def _put_chains(self, changes: Changes) -> None:
        """Keep exactly the chains of the profiles in use, and the sets that they name."""
        wanted: dict[str, tuple[Statement, ...]] = {}
        groups: set[Group] = set()
        names: set[tuple[str, ...]] = set()
        for (direction, _), chains in self._used.items():
            for name, keys, lines in chains:
                if name in wanted:
                    continue
                old = self.chains.get(name)
                if old is None or self._changed.intersection(keys):
                    wanted[name] = lines or self._lines(direction, keys)
                else:
                    wanted[name] = old
                for policy in map(self.policies.__getitem__, keys):
                    for rule in policy.rules(direction) or ():
                        groups.update(rule.groups)
                        names.update(port.names for port in rule.ports or () if port.names)
        self._changed.clear()
        self.members.use(groups, names)
        sets = set(self.members.elements.counts)
        changes.sets, changes.removed_sets = sorted(sets - self._sets), sorted(self._sets - sets)
        self._sets = sets
        changes.removed_chains = [name for name in self.chains if name not in wanted]
        changes.chains = {name: lines for name, lines in wanted.items() if self.chains.get(name) != lines}
        changes.known_chains = {
            name for name in (*changes.chains, *changes.removed_chains) if name in self.chains
        }
        self.chains = wanted

    def _lines(self, direction: str, keys: tuple[str, ...]) -> tuple[Statement, ...]:
        return tuple(
            statement
            for key in keys
            for rule in self.policies[key].rules(direction) or ()
            for statement in statements(rule, self.members.versions)
        )


def _chains_of(direction: str, profile: Profile) -> Iterator[_Chain]:
    """Yield the chains that a profile needs; the first is the pod's own, which has its lines instead of policies."""
    admin, network, baseline = profile
    yield _pod_chain(direction, profile), (), _pod_statements(direction, profile)
    for tier, keys in ((ADMIN, admin), (BASELINE, baseline if not network else ())):
        if keys:
            yield _tier_chain(direction, tier, keys), keys, ()
    for key in network:
        yield _policy_chain(direction, key), (key,), ()


def _pod_chain(direction: str, profile: Profile) -> str:
    words = ("\n".join(keys) for keys in profile)
    return f"{direction}-pod-{short(direction, *words)}"


def _tier_chain(direction: str, tier: int, keys: tuple[str, ...]) -> str:
    return f"{direction}-{'admin' if tier == ADMIN else 'baseline'}-{short(direction, *keys)}"


def _policy_chain(direction: str, key: str) -> str:
    return f"{direction}-policy-{short(direction, key)}"


def _pod_statements(direction: str, profile: Profile) -> tuple[Statement, ...]:
    """Return the lines of a pod's chain: the tiers one after the other."""
    admin, network, baseline = profile
    lines = []
    if admin:
        lines.append(Statement(f"jump {_tier_chain(direction, ADMIN, admin)}"))
    if network:
        lines += [Statement(f"jump {_policy_chain(direction, key)}") for key in network]
        lines.append(Statement("drop", f"no rule of {', '.join(network)} allows it"))
    elif baseline:
        lines.append(Statement(f"jump {_tier_chain(direction, BASELINE, baseline)}"))
    return tuple(lines)


def _compare(name: str, old: Mapping[str, str], new: Mapping[str, str], changes: Changes) -> None:
    """Note which elements of a map differ."""
    removed = [f"{key} : jump {chain}" for key, chain in old.items() if new.get(key) != chain]
    added = [f"{key} : jump {chain}" for key, chain in new.items() if old.get(key) != chain]
    if removed:
        changes.removed[name] = removed
    if added:
        changes.added[name] = added
