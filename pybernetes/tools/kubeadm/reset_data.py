"""What the phases of ``reset`` share."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.api.text import durations
from pybernetes.tools.kubeadm.init_data import Folders


@dataclass
class ResetData:
    """All that phases of ``reset`` need; they say which other folders are to be emptied."""

    configuration: Object
    kubeconfig: Path
    folders: Folders = field(default_factory=Folders)
    dry_run: bool = False
    force: bool = False
    ignored: frozenset[str] = frozenset()
    emptied: list[Path] = field(default_factory=list)

    def seconds(self, name: str) -> float:
        """Return one of the configured timeouts."""
        return durations.parse_duration(self.configuration["timeouts"][name])
