"""How a build is done: what the command line says."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Options:
    """The options of a build."""

    restriction: str = "LoadRestrictionsRootOnly"
    reorder: str = "none"  # legacy, none or unspecified
    managed_by: bool = False
    plugins: bool = False
    helm: bool = False
    helm_command: str = ""
    helm_api_versions: list[str] = field(default_factory=list)
    helm_kube_version: str = ""
    helm_debug: bool = False
    environment: dict[str, str] = field(default_factory=dict)
