"""Everything that a kubelet is started with: its configuration and the flags beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.lib.flags import duration
from pybernetes.node.kubelet.config import merged


@dataclass(slots=True)
class Options:
    """The options of one kubelet."""

    node_name: str
    root: Path = Path("/var/lib/kubelet")
    configuration: Object = field(default_factory=lambda: merged({}))
    node_ips: tuple[str, ...] = ()
    node_labels: Mapping[str, str] = field(default_factory=dict)
    hostname: str = ""
    provider_id: str = ""
    cloud_provider: str = ""
    cni_configuration: Path | None = None  # where to write the CNI configuration; None leaves it to others
    certificates: Path | None = None
    runtime_group: str = ""  # the control group of the container runtime
    dead_runs: int = 1  # how many earlier runs of a container are kept for their logs
    housekeeping: float = 10.0  # seconds between two checks for eviction
    capacity: Mapping[str, str] = field(default_factory=dict)  # overrides what the machine has

    # The file with the log of a pod that is shown on the node and is no container, by its namespace and name.
    plain_log: Callable[[str, str], Path | None] = lambda namespace, name: None

    def __post_init__(self) -> None:
        # Mounts are found by their real names, and below the root nothing is to be a link.
        self.root = self.root.resolve()

    def seconds(self, name: str) -> float:
        """Return a duration of the configuration in seconds."""
        return float(duration(self.configuration[name]))
