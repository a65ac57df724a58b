"""What a kind is: one ``Resource`` per file, from which routes, storage, discovery and printing derive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pybernetes.api import schema
from pybernetes.api.field import Errors
from pybernetes.api.validation.names import dns_subdomain

Object = dict[str, Any]
ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


# What the status subresource of many newer kinds leaves alone: metadata too.
KEEPS_METADATA: Mapping[str, Object] = {"status": {"f:metadata": {}, "f:spec": {}}}


@dataclass(frozen=True, slots=True)
class Column:
    """A printed column; priority 1 shows only in wide output.

    ``cell`` is a function of the object and the time now (seconds since the epoch), giving a JSON value, or
    a dotted path such as ``.spec.replicas``.
    """

    name: str
    cell: Callable[[Object, float], Any] | str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a kind keeps what its scale subresource shows."""

    replicas: str = ".spec.replicas"
    status_replicas: str = ".status.replicas"
    selector: str = ".status.selector"  # a string, or a label selector or a map, turned into a string


@dataclass(frozen=True, slots=True)
class Rules:
    """A subresource that is the object itself under rules of its own: what a write of it keeps and checks.

    ``prepare`` puts back, in the new object, all that this subresource may not change.
    """

    prepare: Callable[[Object, Object], None]
    validate: Callable[[Object, Object, Errors], None] | None = None


@dataclass(kw_only=True, eq=False)
class Resource:
    """A kind at one version. Every hook is a pure function of objects.

    ``default`` completes a decoded object in place. ``prepare_create`` and ``prepare_update`` set what
    clients may not (beyond the rules that hold for all: status, generation, metadata). ``validate`` and
    ``validate_update`` collect errors into the list that they are given; ``validate_update`` is called
    after ``validate`` with the new and the old object, ``validate_create`` after it for a new object only;
    the status variants run for writes of the status subresource. ``warnings`` gives texts for the Warning header.
    """

    group: str
    version: str
    kind: str
    plural: str
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    namespaced: bool = True
    # Whether it is served unless somebody says otherwise.
    served: bool = True
    verbs: tuple[str, ...] = ALL_VERBS
    # The names of its subresources; "status" and "scale" are served by what the API server has for all kinds.
    subresources: tuple[str, ...] = ()
    scale: Scale | None = None
    # Subresources that read and write the object itself: name to rules ("status" has its own hooks below).
    rules: Mapping[str, Rules] = field(default_factory=dict)
    columns: tuple[Column, ...] = ()
    # What a write cannot change, as managed fields name it, by subresource ("" is the object itself), where this
    # is not the usual: the status for the object, everything but metadata and status for the status.
    reset: Mapping[str, Object] = field(default_factory=dict)
    # Whether metadata.generation counts changes of everything but metadata and status.
    generation: bool = False
    # Where upstream keeps it, when that is not its plural: "services/specs".
    storage_path: str = ""
    # The version that is stored, when it is another one than this: ("", "v1"), with the two conversions.
    storage_version: tuple[str, str] | None = None
    to_storage: Callable[[Object], Object] | None = None
    from_storage: Callable[[Object], Object] | None = None
    # Field selectors beyond metadata.name and metadata.namespace: name to the text that it compares.
    selectable: Mapping[str, Callable[[Object], str]] = field(default_factory=dict)
    name_errors: Callable[[str], list[str]] = dns_subdomain
    # Whether an update may create the object, and whether an update without resourceVersion is accepted.
    create_on_update: bool = False
    unconditional_update: bool = True
    # Seconds after which an object goes by itself (events).
    ttl: int = 0
    # Whether a create keeps the status that the client sent (a kubelet registers its node with it).
    status_on_create: bool = False
    # What becomes of dependents when a deletion does not say: "Background", "Orphan" or "" (none to care for).
    propagation: str = "Background"
    # The warning for a deletion that does not say.
    deletion_warning: str = ""
    # The warning that every request for a deprecated kind gets.
    deprecated: str = ""
    # A custom resource reads a client's object by its own schema.
    decode: Callable[[Object, schema.Decoder], Object] | None = None
    default: Callable[[Object], None] | None = None
    prepare_create: Callable[[Object], None] | None = None
    # Notes in a new object who created it, after prepare_create; the user is given as reviews show it.
    note_user: Callable[[Object, Object], None] | None = None
    prepare_update: Callable[[Object, Object], None] | None = None
    prepare_status_update: Callable[[Object, Object], None] | None = None
    validate: Callable[[Object, Errors], None] | None = None
    validate_create: Callable[[Object, Errors], None] | None = None
    validate_update: Callable[[Object, Object, Errors], None] | None = None
    validate_status_update: Callable[[Object, Object, Errors], None] | None = None
    # Whether validation compiles expressions, which takes long for their size.
    compiles: bool = False
    warnings: Callable[[Object, Object | None], list[str]] | None = None
    # Texts about what a client sent that prepare_create puts right.
    early_warnings: Callable[[Object], list[str]] | None = None
    # What the first request to delete an object does to it before anything else; it gets the time as a timestamp.
    begin_deletion: Callable[[Object, str], None] | None = None
    # Seconds of grace before a deletion is final: None means that this kind has no graceful deletion.
    grace_period: Callable[[Object, int | None], int] | None = None
    # A custom resource brings its own type.
    own_type: schema.Type | None = None

    def __post_init__(self) -> None:
        self.singular = self.singular or self.kind.lower()
        self.api_version = f"{self.group}/{self.version}" if self.group else self.version
        self.list_kind = f"{self.kind}List"
        self.has_status = "status" in self.subresources
        self.storage_path = self.storage_path or self.plural

    @cached_property
    def type(self) -> schema.Type:
        """The type of the whole object."""
        return self.own_type or schema.kind_type(self.group, self.version, self.kind)

    def __repr__(self) -> str:
        return f"Resource({self.api_version} {self.plural})"
