"""One stream of the incremental protocol: what the proxy asked for, has been sent, and has said to it. No I/O."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from pybernetes.control_plane.gateway.envoy.messages import (
    CLUSTER,
    ENDPOINTS,
    LISTENER,
    ROUTES,
    SECRET,
    TYPE_PREFIX,
)
from pybernetes.control_plane.gateway.xds.store import Store

# In the order in which changes are sent: what others refer to comes first.
TYPES = (CLUSTER, ENDPOINTS, SECRET, LISTENER, ROUTES)
_WILDCARD = "*"


@dataclass(slots=True)
class _Subscription:
    names: set[str] = field(default_factory=set)
    is_wildcard: bool = False
    is_answered: bool = (
        False  # a proxy that asked for all of a type waits for an answer, even if there is nothing
    )
    sent: dict[str, str] = field(default_factory=dict)  # versions by name; empty for what does not exist


class DeltaStream:
    """The state of a stream. It looks at what has changed since the last look, and at nothing else."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._subscriptions: dict[str, _Subscription] = {}
        self._unanswered: dict[str, tuple[str, list[str]]] = {}  # type and names by nonce
        self._nonce = 0
        # Names that the proxy does not have as they are, or has asked for.
        self._open: dict[str, set[str]] = {type_: set(store.by_type[type_]) for type_ in TYPES}
        self.rejected: dict[str, dict[str, str]] = defaultdict(dict)  # the proxy's words, by type and name

    def changed(self, type_: str, name: str) -> None:
        """Note that a resource of the store has changed."""
        self._open[type_].add(name)

    def receive(self, request: Any) -> None:
        """Take in what the proxy says: names that it wants or no longer wants, and answers to what it was sent."""
        type_ = request.type_url.removeprefix(TYPE_PREFIX)
        if request.response_nonce:
            self._answered(request)
        if type_ not in TYPES:
            return
        subscription = self._subscriptions.get(type_)
        if subscription is None:
            subscription = self._subscriptions[type_] = _Subscription()
            subscription.is_wildcard = not request.resource_names_subscribe
            subscription.sent = dict(request.initial_resource_versions)
            self._open[type_] |= subscription.sent.keys()
        for name in request.resource_names_subscribe:
            if name == _WILDCARD:
                subscription.is_wildcard = True
                continue
            subscription.names.add(name)
            subscription.sent.pop(name, None)  # it asks, so it gets an answer even if nothing has changed
            self._open[type_].add(name)
        for name in request.resource_names_unsubscribe:
            subscription.names.discard(name)
            subscription.sent.pop(name, None)

    def _answered(self, request: Any) -> None:
        type_, names = self._unanswered.pop(request.response_nonce, ("", []))
        words = request.error_detail.message if request.HasField("error_detail") else ""
        for name in names:
            if words:
                self.rejected[type_][name] = words
            else:
                self.rejected[type_].pop(name, None)

    def responses(self) -> list[dict[str, Any]]:
        """Return what is to be sent now, as fields of responses, and count it as sent."""
        return [fields for type_ in TYPES if (fields := self._response(type_))]

    def _response(self, type_: str) -> dict[str, Any] | None:
        subscription = self._subscriptions.get(type_)
        if subscription is None:
            return None
        known, sent = self._store.by_type[type_], subscription.sent
        changed: list[str] = []
        gone: list[str] = []
        for name in sorted(self._open[type_]):
            resource = known.get(name)
            is_wanted = subscription.is_wildcard or name in subscription.names
            if resource is not None and not is_wanted:
                continue  # the proxy may ask for it yet
            self._open[type_].discard(name)
            if resource is not None:
                if sent.get(name) != resource.version:
                    changed.append(name)
            elif sent.get(name) or (name in subscription.names and name not in sent):
                gone.append(name)
        if not changed and not gone and (subscription.is_answered or not subscription.is_wildcard):
            return None
        subscription.is_answered = True
        sent |= {name: known[name].version for name in changed}
        for name in gone:
            sent[name] = ""
            self.rejected[type_].pop(name, None)
        self._nonce += 1
        self._unanswered[str(self._nonce)] = type_, changed
        url = TYPE_PREFIX + type_
        return {
            "type_url": url, "nonce": str(self._nonce), "removed_resources": gone,
            "resources": [
                {"name": name, "version": known[name].version, "resource": {"type_url": url, "value": known[name].value}}
                for name in changed
            ],
        }  # fmt: skip

    def is_settled(self, *types: str) -> bool:
        """Return whether the proxy has everything of some types and has answered; nothing more comes after a rejection."""
        if any(type_ in types for type_, _ in self._unanswered.values()):
            return False
        return any(self.rejected[type_] for type_ in types) or not any(self._open[type_] for type_ in types)
