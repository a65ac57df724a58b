"""The types of every built-in kind: fields, list and map types, merge keys, decoding.

``types`` holds the nodes of the type graph, ``load`` builds them from the published JSON schemas,
``decode`` turns a client's JSON into a clean object of a type.
"""

from pybernetes.api.schema.decode import DecodeError, Decoder
from pybernetes.api.schema.load import definition_name, has_message, has_version, is_kind, kind_type, named
from pybernetes.api.schema.types import Type

__all__ = [
    "DecodeError",
    "Decoder",
    "Type",
    "definition_name",
    "has_message",
    "has_version",
    "is_kind",
    "kind_type",
    "named",
]
