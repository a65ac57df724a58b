"""What a server behind the API server implements: one version of one group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pybernetes.api.request_info import RequestInfo
from pybernetes.api.resource import Object
from pybernetes.lib.http.messages import Request
from pybernetes.runtime.aggregated_api.json_answer import JsonAnswer


@dataclass(frozen=True, slots=True)
class ServedResource:
    """A row of discovery."""

    name: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...] = ("get", "list")
    singular: str = ""


class ApiGroup:
    """One version of one group. A subclass says what there is and answers reads; there is nothing to be written."""

    group: str
    version: str
    title: str  # of its OpenAPI documents
    # The properties of each kind, and of what these refer to, by name.
    schemas: Mapping[str, Mapping[str, Object]] = {}

    @property
    def group_version(self) -> str:
        """What its objects have as their apiVersion."""
        return f"{self.group}/{self.version}"

    async def refresh(self) -> None:
        """Find out what there is to serve, before it is described; nothing to do where that never changes."""

    def resources(self) -> Sequence[ServedResource]:
        """Return what is served now."""
        raise NotImplementedError

    async def answer(self, info: RequestInfo, request: Request) -> Object | JsonAnswer:
        """Return the object or list that an authorized GET asks for; StatusError if there is none."""
        raise NotImplementedError
