"""Which addresses are in the sets of a node's table, kept up to date pod by pod. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pybernetes.node.network.policy.objects import Pod
from pybernetes.node.network.policy.rules import Group
from pybernetes.node.network.policy.table import family, group_set, port_set, short


class Elements:
    """Sets whose elements are counted, since several pods may want the same; remembers what changed since asked."""

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, int]] = {}
        self._before: dict[tuple[str, str], bool] = {}

    def add(self, name: str, element: str) -> None:
        """Add an element to a set."""
        held = self.counts.setdefault(name, {})
        count = held.get(element, 0)
        if not count:
            self._before.setdefault((name, element), False)
        held[element] = count + 1

    def remove(self, name: str, element: str) -> None:
        """Remove an element once."""
        held = self.counts[name]
        count = held[element] - 1
        if count:
            held[element] = count
        else:
            self._before.setdefault((name, element), True)
            del held[element]

    def drop(self, name: str) -> None:
        """Forget a whole set."""
        self.counts.pop(name, None)

    def take(self) -> Iterator[tuple[str, str, bool]]:
        """Yield the set, the element and whether it is in now, for each that differs from the last time."""
        before, self._before = self._before, {}
        for (name, element), was in before.items():
            now = element in self.counts.get(name, ())
            if now != was:
                yield name, element, now


class Members:
    """The pods and namespaces of the cluster, and the sets of those groups and port names that are in use."""

    def __init__(self, versions: tuple[int, ...]) -> None:
        self.versions = versions
        self.elements = Elements()
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.pods: dict[str, dict[str, Pod]] = {}  # by namespace and name
        self._own: dict[str, dict[Group, None]] = {}  # groups of one namespace, by it
        self._wide: dict[Group, set[str]] = {}  # groups by labels of namespaces, with those that match
        self._names: set[tuple[str, ...]] = set()  # names of ports that a rule has together
        self._by_name: dict[str, list[str]] = {}  # those with a name among them, in short

    def set_pod(self, namespace: str, name: str, pod: Pod | None) -> None:
        """Take in a pod, or that it is gone."""
        pods = self.pods.setdefault(namespace, {})
        old = pods.pop(name, None)
        if pod is not None:
            pods[name] = pod
        elif not pods:
            del self.pods[namespace]
        if (
            old is not None
            and pod is not None
            and (old.addresses, old.ports, old.labels) == (pod.addresses, pod.ports, pod.labels)
        ):
            return
        # New ones first: an element that stays is never out.
        for changed, change in ((pod, self.elements.add), (old, self.elements.remove)):
            if changed is not None and changed.addresses:
                for group in self._groups(namespace):
                    if group.has_labels(changed.labels):
                        for element in self._addresses(changed):
                            change(group_set(group, family(element)), element)
                for set_name, element in self._ports(changed, self._by_name):
                    change(set_name, element)

    def set_namespace(self, name: str, labels: Mapping[str, str] | None) -> None:
        """Take in the labels of a namespace, or that it is gone."""
        if labels is None:
            self.namespaces.pop(name, None)
        else:
            self.namespaces[name] = labels
        for group, matching in self._wide.items():
            is_in = group.has_namespace(name, labels)
            if is_in == (name in matching):
                continue
            (matching.add if is_in else matching.discard)(name)
            change = self.elements.add if is_in else self.elements.remove
            for pod in self.pods.get(name, {}).values():
                if group.has_labels(pod.labels):
                    for element in self._addresses(pod):
                        change(group_set(group, family(element)), element)

    def use(self, groups: set[Group], names: set[tuple[str, ...]]) -> None:
        """Keep the sets of exactly these groups and port names."""
        present = {*self._wide, *(group for held in self._own.values() for group in held)}
        for group in present - groups:
            self._wide.pop(group, None)
            if group.namespace:
                del self._own[group.namespace][group]
                if not self._own[group.namespace]:
                    del self._own[group.namespace]
            for version in self.versions:
                self.elements.drop(group_set(group, version))
        for group in groups - present:
            self._begin(group)
        if names == self._names:
            return
        for gone in self._names - names:
            for version in self.versions:
                self.elements.drop(port_set(short(*gone), version))
        new = _by_name(names - self._names)
        for version in self.versions:
            for together in names - self._names:
                self.elements.counts.setdefault(port_set(short(*together), version), {})
        self._names, self._by_name = set(names), _by_name(names)
        if new:
            for pods in self.pods.values():
                for pod in pods.values():
                    for set_name, element in self._ports(pod, new):
                        self.elements.add(set_name, element)

    def _begin(self, group: Group) -> None:
        for version in self.versions:
            self.elements.counts.setdefault(group_set(group, version), {})
        if group.namespace:
            self._own.setdefault(group.namespace, {})[group] = None
            matching = {group.namespace}
        else:
            items = self.namespaces.items()
            matching = {name for name, labels in items if group.has_namespace(name, labels)}
            self._wide[group] = matching
        for namespace in matching:
            for pod in self.pods.get(namespace, {}).values():
                if group.has_labels(pod.labels):
                    for element in self._addresses(pod):
                        self.elements.add(group_set(group, family(element)), element)

    def _groups(self, namespace: str) -> Iterator[Group]:
        yield from self._own.get(namespace, ())
        for group, matching in self._wide.items():
            if namespace in matching:
                yield group

    def _addresses(self, pod: Pod) -> list[str]:
        return [address for address in pod.addresses if family(address) in self.versions]

    def _ports(self, pod: Pod, names: Mapping[str, list[str]]) -> Iterator[tuple[str, str]]:
        if not names:
            return
        for port in pod.ports:
            for together in names.get(port.name, ()):
                for address in self._addresses(pod):
                    element = f"{address} . {port.protocol} . {port.number}"
                    yield port_set(together, family(address)), element


def _by_name(names: Iterable[tuple[str, ...]]) -> dict[str, list[str]]:
    """Return by each name those that it is among, in short."""
    keys: dict[str, list[str]] = {}
    for together in names:
        key = short(*together)
        for name in together:
            keys.setdefault(name, []).append(key)
    return keys
