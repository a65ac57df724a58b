"""What a container runtime can do beyond the common: as its answer about its status says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.cri.messages import Message


@dataclass(frozen=True, slots=True)
class HandlerFeatures:
    """What one handler of the runtime can do."""

    recursive_read_only: bool = False
    user_namespaces: bool = False


@dataclass(frozen=True, slots=True)
class RuntimeFeatures:
    """What a runtime can do. An old one tells of no handlers, and can do none of this."""

    handlers: Mapping[str, HandlerFeatures] = field(default_factory=dict)
    supplemental_groups_policy: bool | None = None  # None if the runtime does not tell

    def handler(self, name: str) -> HandlerFeatures:
        """Return what a handler can do; raise ValueError if the runtime tells of its handlers and has none such."""
        if self.handlers and name not in self.handlers:
            raise ValueError(f'the handler "{name}" is not known')
        return self.handlers.get(name, HandlerFeatures())

    def node_status(self) -> Object:
        """Return the fields of a node's status that say what its runtime can do."""
        told: Object = {
            "runtimeHandlers": [
                {
                    "name": name,
                    "features": {
                        "recursiveReadOnlyMounts": features.recursive_read_only,
                        "userNamespaces": features.user_namespaces,
                    },
                }
                for name, features in self.handlers.items()
            ]
        }
        if self.supplemental_groups_policy is not None:
            told["features"] = {"supplementalGroupsPolicy": self.supplemental_groups_policy}
        return told


def runtime_features(answer: Message) -> RuntimeFeatures:
    """Return what the answer of a runtime about its status tells of its features."""
    handlers = {
        handler.name: HandlerFeatures(
            handler.features.recursive_read_only_mounts, handler.features.user_namespaces
        )
        for handler in answer.runtime_handlers
    }
    policy = answer.features.supplemental_groups_policy if answer.HasField("features") else None
    return RuntimeFeatures(handlers, policy)
