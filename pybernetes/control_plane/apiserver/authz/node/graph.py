"""Which objects belong to which node, through the pods that are bound to it.

    node ← pod ← secret, config map, claim, service account, resource claim
    node ← pod ← claim ← volume ← secret
    node ← volume attachment, resource slice, pod certificate request

What a pod refers to is counted by node, so that a question is a look-up however many pods there are.
"""

from __future__ import annotations

from collections.abc import Iterable

# resource, namespace, name
ObjectKey = tuple[str, str, str]
CLAIMS, VOLUMES, SECRETS = "persistentvolumeclaims", "persistentvolumes", "secrets"


class Graph:
    """The relations, and how they change."""

    def __init__(self) -> None:
        # For each thing that bound objects refer to, how often each node has such an object.
        self._nodes: dict[ObjectKey, dict[str, int]] = {}
        # For each bound object its node, and all that it stands for (itself too).
        self._bound: dict[ObjectKey, tuple[str, frozenset[ObjectKey]]] = {}
        self._volumes: dict[str, tuple[ObjectKey, frozenset[ObjectKey]]] = {}
        self._volumes_of_secret: dict[ObjectKey, set[str]] = {}

    def node_of(self, key: ObjectKey) -> str:
        """Return the node that a pod or the like is bound to, or an empty string."""
        return self._bound[key][0] if key in self._bound else ""

    def bind(self, key: ObjectKey, node: str, references: Iterable[ObjectKey] = ()) -> None:
        """Note that an object is bound to a node, which needs all that it refers to."""
        self.unbind(key)
        keys = frozenset((key, *references))
        self._bound[key] = node, keys
        for needed in keys:
            nodes = self._nodes.setdefault(needed, {})
            nodes[node] = nodes.get(node, 0) + 1

    def unbind(self, key: ObjectKey) -> None:
        """Forget a bound object."""
        if key not in self._bound:
            return
        node, keys = self._bound.pop(key)
        for needed in keys:
            nodes = self._nodes[needed]
            nodes[node] -= 1
            if not nodes[node]:
                del nodes[node]
                if not nodes:
                    del self._nodes[needed]

    def claim(self, volume: str, claim: ObjectKey, secrets: Iterable[ObjectKey]) -> None:
        """Note that a volume is for a claim, and which secrets it needs."""
        self.release(volume)
        needed = frozenset(secrets)
        self._volumes[volume] = claim, needed
        for secret in needed:
            self._volumes_of_secret.setdefault(secret, set()).add(volume)

    def release(self, volume: str) -> None:
        """Forget a volume."""
        if volume not in self._volumes:
            return
        for secret in self._volumes.pop(volume)[1]:
            volumes = self._volumes_of_secret[secret]
            volumes.discard(volume)
            if not volumes:
                del self._volumes_of_secret[secret]

    def reaches(self, node: str, key: ObjectKey) -> bool:
        """Return whether a thing is there for a node."""
        if node in self._nodes.get(key, ()):
            return True
        resource, namespace, name = key
        if resource == VOLUMES:
            return not namespace and self._mounts(node, name)
        if resource == SECRETS:
            return any(self._mounts(node, volume) for volume in self._volumes_of_secret.get(key, ()))
        return False

    def _mounts(self, node: str, volume: str) -> bool:
        entry = self._volumes.get(volume)
        return entry is not None and node in self._nodes.get(entry[0], ())
