"""Classes of Envoy's messages, made from the table of their fields when the first one is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from pybernetes.control_plane.gateway.envoy.api_fields import ENUMERATIONS, MESSAGES

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool

_GOOGLE = "google.protobuf"


class MissingProxy(Exception):
    """What Envoy or its messages need is not installed."""


@cache
def message_class(name: str) -> Any:
    """Return the class of a message; KeyError if the table does not have it."""
    try:
        from google.protobuf import message_factory
    except ImportError as error:
        raise MissingProxy(
            f"messages for Envoy cannot be made ({error}): pip install 'pybernetes[gateway]'"
        ) from None
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(name))


@cache
def _pool() -> DescriptorPool:
    """Return a pool of our own: another version of the same messages may be in the one that all share."""
    from google.protobuf import any_pb2, descriptor_pool, duration_pb2, wrappers_pb2

    pool = descriptor_pool.DescriptorPool()
    for module in (any_pb2, duration_pb2, wrappers_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    google = [module.DESCRIPTOR.name for module in (any_pb2, duration_pb2, wrappers_pb2)]
    files = _files()
    added: set[str] = set()

    def add(package: str) -> None:
        if package in added or package not in files:
            return
        added.add(package)
        file, uses = files[package]
        for used in sorted(uses - {package}):
            add(used)
        file.dependency.extend([*google, *(f"{used}.proto" for used in sorted(uses - {package, _GOOGLE}))])
        pool.AddSerializedFile(file.SerializeToString())

    for package in files:
        add(package)
    return pool


def _files() -> dict[str, tuple[FileDescriptorProto, set[str]]]:
    """Return a file for each package, with the packages that its fields are of."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    files: dict[str, tuple[FileDescriptorProto, set[str]]] = {}
    messages: dict[str, DescriptorProto] = {}
    enumerations = dict(_blocks(ENUMERATIONS))
    for name, lines in _blocks(MESSAGES):
        package, _, own = name.rpartition(".")
        if package in messages:
            message = messages[package].nested_type.add()
        else:
            # Of the second syntax: a field that is set is sent, also if it is zero.
            files.setdefault(package, (FileDescriptorProto(name=f"{package}.proto", package=package), set()))
            message = files[package][0].message_type.add()
        message.name, messages[name] = own, message
        uses = files[_package(name)][1]
        for number, field, kind in lines:
            uses.add(_package(kind.lstrip("*").removeprefix("map:")))
            _add_field(name, message, int(number), field, kind, enumerations)
    for name, lines in enumerations.items():
        parent, _, own = name.rpartition(".")
        holder: Any = messages.get(parent) or files[parent][0]
        holder.enum_type.add(
            name=own, value=[{"name": value, "number": int(number)} for number, value in lines]
        )
    for _, uses in files.values():
        uses.discard("")
    return files


def _add_field(
    owner: str,
    message: DescriptorProto,
    number: int,
    name: str,
    kind: str,
    enumerations: dict[str, list[list[str]]],
) -> None:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Proto

    if kind.startswith("map:"):
        entry = "".join(word.capitalize() for word in name.split("_")) + "Entry"
        nested = message.nested_type.add(name=entry, options={"map_entry": True})
        nested.field.add(name="key", number=1, type=Proto.TYPE_STRING, label=Proto.LABEL_OPTIONAL)
        _type(nested.field.add(name="value", number=2, label=Proto.LABEL_OPTIONAL), kind[4:], enumerations)
        field = message.field.add(name=name, number=number, label=Proto.LABEL_REPEATED)
        _type(field, f"{owner}.{entry}", enumerations)
        return
    label = Proto.LABEL_REPEATED if kind.startswith("*") else Proto.LABEL_OPTIONAL
    _type(message.field.add(name=name, number=number, label=label), kind.lstrip("*"), enumerations)


def _type(field: FieldDescriptorProto, kind: str, enumerations: dict[str, list[list[str]]]) -> None:
    if "." not in kind:
        field.type = getattr(field, f"TYPE_{kind.upper()}")
    else:
        field.type = field.TYPE_ENUM if kind in enumerations else field.TYPE_MESSAGE
        field.type_name = f".{kind}"


def _package(name: str) -> str:
    """Return the package of a name: messages begin with a capital letter."""
    return ".".join(part for part in name.split(".")[:-1] if part[0].islower())


def _blocks(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield names with the words of the lines below them; in the order of the text."""
    blocks: dict[str, list[list[str]]] = {}
    name = ""
    for line in text.strip().splitlines():
        if line.startswith(" "):
            blocks[name].append(line.split())
        else:
            name = line
            blocks[name] = []
    yield from blocks.items()
