"""Whatever others send is handled in linear time: twice the input takes at most 2.6 times as long.

A row is an input: its name, what makes one of a size, and what the program does with it. Add one for everything that
reads what a client, a webhook, an aggregated server, a kubelet or a pod can send. The file is long because it is one
table: what has no row yet is seen at a glance. Heads, queries and answers as they come over a connection have theirs in
``test_doubling_network``.
"""

from __future__ import annotations

import time
from functools import partial
from random import Random
from typing import Any

import pytest

from pybernetes.api import quantity, selectors
from pybernetes.api.apply import apply as server_side
from pybernetes.api.apply import conflicts, field_sets, managed_fields
from pybernetes.api.cel.engine import Environment
from pybernetes.api.customresource import list_types, prune, validate
from pybernetes.api.errors import invalid
from pybernetes.api.field import ROOT, Errors
from pybernetes.api.jsonpath.template import JsonPath
from pybernetes.api.patch import json_patch, merge_patch, strategic
from pybernetes.api.protobuf import decode as protobuf_decode
from pybernetes.api.rbac_rules import RuleSet
from pybernetes.api.resource import Object
from pybernetes.api.schema import Decoder, Type, kind_type
from pybernetes.api.text import durations, go_format, json_reader, yaml_reader
from pybernetes.api.text.regular_expressions import compile_pattern
from pybernetes.control_plane.apiserver.codec.bodies import parse_body
from pybernetes.control_plane.apiserver.services.port_plan import PortPlan
from pybernetes.control_plane.apiserver.services.port_pool import PortPool
from pybernetes.control_plane.apiserver.services.ranges import PortRange
from pybernetes.control_plane.store.drivers.memory import MemoryStore
from tests import doubling
from tests.doubling import LINEAR, MOST_GROWTH, Input, growth

POD = kind_type("", "v1", "Pod")
CONFIG_MAP = kind_type("", "v1", "ConfigMap")
SERVICE = kind_type("", "v1", "Service")


def _bytes(start: bytes, part: bytes, end: bytes = b"") -> Any:
    """Return what makes a text of repeated parts; ``%d`` in a part is its number."""
    if b"%d" in part:
        return lambda size: start + b"".join(part % number for number in range(size)) + end
    return lambda size: start + part * size + end


def _complaints(raw: bytes) -> list[str]:
    return parse_body(raw, False).complaints(0, [])


def _unknown(raw: bytes) -> list[str]:
    decoder = Decoder(counting=True)
    body = parse_body(raw, False)
    decoder.decode(POD, body.value)
    return body.complaints(decoder.keys, decoder.noted)


JSON = [
    Input("malformed", _bytes(b"[", b"[1],", b"x"), json_reader.loads),
    Input("malformed string", _bytes(b'["', b"\\n", b"\\q"), json_reader.loads),
    Input("halves of characters", _bytes(b'["', b"\\ud800x", b'"]'), json_reader.loads),
    Input("without an end", _bytes(b"", b"["), json_reader.loads),
    Input("wide and deep", _bytes(b"[", b"[[[[]]]],", b"1]"), json_reader.loads),
    Input("digits", _bytes(b"[1", b"0", b"]"), json_reader.loads),
    Input("pieces of keys", _bytes(b"{", b'"%d":1,', b'"a":1}'), json_reader.read_pieces),
    Input(
        "pieces of nested ones",
        _bytes(b"[" * 200, b"[[[[[[[[[[1,2]]]]]]]]]],", b"1" + b"]" * 200),
        json_reader.read_pieces,
    ),
    Input(
        "pieces of duplicate keys",
        _bytes(b"[", b'{"a":{"b":[1]},"a":{"b":2}},', b"1]"),
        json_reader.read_pieces,
    ),
    Input("pieces of a text of escapes", _bytes(b'[1,"', b'\\"', b'",1]'), json_reader.read_pieces),
    Input("pieces of blanks", _bytes(b"[1", b" ", b",1]"), json_reader.read_pieces),
    Input("duplicate keys", _bytes(b"{", b'"a":1,', b'"a":1}'), _complaints),
    Input("different duplicate keys", _bytes(b'{"a":{', b'"%d":1,"":1,', b'"a":1}}'), _complaints),
    Input(
        "duplicates below a long key",
        lambda size: b'{"' + b"k" * 8 * size + b'":{' + b'"a":1,' * size + b'"a":1}}',
        _complaints,
    ),
    Input(
        "many objects with duplicates below a long key",
        lambda size: b'{"' + b"k" * 8 * size + b'":[' + b'{"a":1,"a":1},' * size + b"1]}",
        _complaints,
    ),
    # Beyond 100,000 they are looked at one by one: both sizes are below that.
    Input("key marks inside of texts", _bytes(b'{"a":"', b'\\":', b'"}'), _complaints, largest=32_768),
    Input("unknown fields", _bytes(b'{"spec":{', b'"u%d":1,', b'"a":1}}'), _unknown),
    Input(
        "duplicates beside an unknown field with a long name",
        lambda size: b'{"spec":{"' + b"k" * 8 * size + b'":1},' + b'"spec":{"a":1},' * size + b'"spec":{}}',
        _unknown,
    ),
]
YAML = [
    Input("lists", _bytes(b"", b"- a\n"), yaml_reader.loads),
    Input("flows", _bytes(b"[", b"{a: [b]}, ", b"]"), yaml_reader.loads),
    Input("mappings", _bytes(b"", b"k%d: v\n"), yaml_reader.loads),
    Input("repeated keys", _bytes(b"", b"k: v\n"), yaml_reader.loads),
    Input(
        "aliases of a long text",
        lambda size: b"a: &a " + b"x" * size + b"\nb: [" + b"*a, " * size + b"]",
        yaml_reader.loads,
    ),
    Input(
        "aliases of a list",
        lambda size: b"a: &a [" + b"x, " * size + b"]\nb: [" + b"*a, " * size + b"]",
        yaml_reader.loads,
        start=4096,  # from here on it is refused; below, what it stands for grows with the square
    ),
    Input(
        "merges",
        lambda size: (
            b"a: &a {"
            + b"".join(b"k%d: 1, " % n for n in range(size))
            + b"}\nb: {<<: ["
            + b"*a, " * size
            + b"]}"
        ),
        yaml_reader.loads,
    ),
    Input("anchors", _bytes(b"", b"- &a%d x\n"), yaml_reader.loads),
    Input("directives", _bytes(b"", b"%%TAG !a%d! tag:x\n", b"--- x\n"), yaml_reader.loads),
    Input("digits", _bytes(b"a: 1", b"0"), yaml_reader.loads),
    Input("hexadecimal digits", _bytes(b"a: 0x", b"f"), yaml_reader.loads),
    Input("a long text", _bytes(b'a: "', b"x\\n", b'"'), yaml_reader.loads),
    Input("lines", _bytes(b"a: |\n", b"  x\n"), yaml_reader.loads),
]


def _envelope(message: bytes) -> bytes:
    type_meta = b"\x0a\x02v1\x12\x03Pod"
    return b"k8s\x00\x0a" + bytes([len(type_meta)]) + type_meta + b"\x12" + _size(len(message)) + message


def _size(number: int) -> bytes:
    result = b""
    while number >= 0x80:
        result += bytes([number & 0x7F | 0x80])
        number >>= 7
    return result + bytes([number])


def _protobuf(data: bytes) -> Object:
    return protobuf_decode(data, ("", "v1", "Pod"))


PROTOBUF = [
    Input("empty fields", lambda size: _envelope(b"\x12\x00" * size), _protobuf),
    Input("unknown fields", lambda size: _envelope(b"\x78\x01" * size), _protobuf),
    Input(
        "empty containers", lambda size: _envelope(b"\x12" + _size(2 * size) + b"\x12\x00" * size), _protobuf
    ),
    Input("nested messages", lambda size: _envelope(b"\x0a\x02\x5a\x00" * size), _protobuf),
]


def _config_map(size: int) -> Object:
    return {"metadata": {"name": "x"}, "data": {f"k{number}": "v" for number in range(size)}}


def _service(size: int) -> Object:
    ports = [{"port": number, "protocol": "TCP"} for number in range(size)]
    return {"metadata": {"name": "x"}, "spec": {"ports": ports}}


def _finalizers(size: int) -> Object:
    return {"metadata": {"name": "x", "finalizers": [f"a/{number}" for number in range(size)]}}


def _patched(made: tuple[Object, list[Object]]) -> None:
    json_patch.apply(*made)


def _merged(type_: Type) -> Any:
    def merge(made: tuple[Object, Object]) -> None:
        document, patch = made
        strategic.apply(document, patch, type_)

    return merge


PATCHES = [
    Input(
        "JSON patch of a large map",
        lambda size: (
            _config_map(size),
            [{"op": "add", "path": f"/data/n{n}", "value": "v"} for n in range(size)],
        ),
        _patched,
        largest=10_000,
    ),
    Input(
        "JSON patch that copies",
        lambda size: (
            _config_map(10),
            [{"op": "copy", "from": "/data", "path": f"/data{n}"} for n in range(size)],
        ),
        _patched,
        largest=10_000,
    ),
    Input(
        "JSON patch that removes",
        lambda size: (_config_map(size), [{"op": "remove", "path": f"/data/k{n}"} for n in range(size)]),
        _patched,
        largest=10_000,
    ),
    Input(
        "merge patch",
        lambda size: (_config_map(size), _config_map(2 * size)),
        lambda made: merge_patch.apply(*made),
    ),
    Input(
        "strategic merge with deletions",
        lambda size: (
            _service(size),
            {"spec": {"ports": [{"$patch": "delete", "port": number} for number in range(size)]}},
        ),
        _merged(SERVICE),
    ),
    Input(
        "strategic merge in an order",
        lambda size: (
            _service(size),
            {
                "spec": {
                    "ports": [{"port": number} for number in range(size // 2, 0, -1)],
                    "$setElementOrder/ports": [{"port": number} for number in range(size, 0, -1)],
                }
            },
        ),
        _merged(SERVICE),
    ),
    Input(
        "strategic merge that deletes scalars",
        lambda size: (
            _finalizers(size),
            {"metadata": {"$deleteFromPrimitiveList/finalizers": [f"a/{number}" for number in range(size)]}},
        ),
        _merged(POD),
    ),
]


def _apply(made: tuple[Object, Object, Any]) -> None:
    live, applied, type_ = made
    head = {"apiVersion": "v1", "kind": "X"}
    server_side.apply(
        {**head, **live},
        {**head, **applied},
        type_,
        kind="X",
        manager="m",
        api_version="v1",
        subresource="",
        force=True,
        now="2026-01-02T03:04:05Z",
        reset={},
    )


def _managed(size: int) -> list[Object]:
    fields: Object = {"f:data": {f"f:k{number}": {} for number in range(size)}}
    return [
        managed_fields.entry(f"m{n}", "Update", "v1", "", "2026-01-02T03:04:05Z", fields) for n in range(3)
    ]


def _owned_fields(size: int) -> tuple[list[Object], Object, str]:
    """Return fields of ten managers, and those that an apply takes: all of them."""
    fields: Object = {"f:data": {f"f:k{number}": {} for number in range(size)}}
    owners = [
        managed_fields.entry(f"m{n}", "Apply", "v1", "", "2026-01-02T03:04:05Z", fields) for n in range(10)
    ]
    return owners, fields, "v1"


APPLY = [
    Input("of a map", lambda size: (_config_map(size // 2), _config_map(size), CONFIG_MAP), _apply),
    Input("of a list", lambda size: (_service(size // 2), _service(size), SERVICE), _apply),
    Input(
        "of a list backwards",
        lambda size: (_service(size), {**(other := _service(size)), "spec": {"ports": other["spec"]["ports"][::-1]}}, SERVICE),
        _apply,
    ),
    Input("of scalars", lambda size: (_finalizers(size // 2), _finalizers(size), POD), _apply),
    Input("conflicts with a manager of every field", _owned_fields, lambda owned: conflicts.error(conflicts.find(*owned))),
    Input("entries that a client sent", lambda size: _managed(size), managed_fields.decode),
    Input("paths", lambda size: _managed(size)[0]["fieldsV1"], lambda made: list(field_sets.paths(made))),
    Input(
        "a write of a map",
        lambda size: (_config_map(size // 2), _config_map(size)),
        lambda made: managed_fields.update(
            {**made[0], "metadata": {"managedFields": _managed(10)}}, made[1], CONFIG_MAP, manager="m", api_version="v1", now=""
        ),
    ),
]  # fmt: skip


def _matched(text: str) -> None:
    selector = selectors.parse_labels(text)
    for number in range(200):
        selector.matches({"a": str(number), "b": "c"})


SELECTORS = [
    Input("requirements", lambda size: ",".join(f"!k{number}" for number in range(size)), _matched),
    Input(
        "requirements of one key", lambda size: ",".join(f"a!=v{number}" for number in range(size)), _matched
    ),
    Input(
        "values", lambda size: "a notin (" + ",".join(f"v{number}" for number in range(size)) + ")", _matched
    ),
    Input("spaces", lambda size: "a" + " " * size + "in" + " " * size + "(b)" + " " * size, _matched),
    Input("a long key", lambda size: "a" * size + "=b", _matched),
    Input("commas", lambda size: "a in (" + "," * size + ")", _matched),
    Input(
        "of fields", lambda size: ",".join(f"a{number}=b" for number in range(size)), selectors.parse_fields
    ),
    Input("of fields, escapes", lambda size: "a=" + "\\," * size, selectors.parse_fields),
]
SET_OF_MAPS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": {"type": "object", "properties": {"k": {"type": "integer"}}},
}
ANY_MAP = {
    "type": "object",
    "additionalProperties": {"type": "object", "additionalProperties": {"type": "integer"}},
}


def _checked(schema: Object, value: Any) -> None:
    errors = Errors()
    validate.check(schema, value, errors)
    list_types.check(schema, value, ROOT, errors)
    if errors:
        raise invalid("g", "K", "x", errors)


def _pruned(schema: Object, value: Object) -> list[str]:
    decoder = Decoder(counting=True)
    prune.decode(schema, value, decoder)
    return decoder.unknown


CUSTOM = [
    Input(
        "sets",
        lambda size: list(range(size)),
        lambda value: _checked({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}}, value),
    ),
    Input(
        "sets of the same",
        lambda size: ["a"] * size,
        lambda value: _checked({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}, value),
    ),
    Input("lists that are maps", lambda size: [{"k": n} for n in range(size)], lambda value: _checked(SET_OF_MAPS, value)),
    Input("errors", lambda size: ["a"] * size, lambda value: _checked({"type": "array", "items": {"type": "integer"}}, value)),
    Input(
        "errors below a long key",
        lambda size: {"k" * 8 * size: {f"{number}": "a" for number in range(size)}},
        lambda value: _checked(ANY_MAP, value),
    ),
    Input(
        "values below a long key",
        lambda size: {"k" * 8 * size: {f"{number}": number for number in range(size)}},
        lambda value: _checked(ANY_MAP, value),
    ),
    Input("unknown fields", lambda size: {f"{n}": 1 for n in range(size)}, lambda value: _pruned({"type": "object"}, value)),
    Input(
        "unknown fields below a long key",
        lambda size: {"k" * 8 * size: {f"{number}": 1 for number in range(size)}},
        lambda value: _pruned({"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {}}}}, value),
    ),
    Input(
        "embedded objects",
        lambda size: (
            {"type": "object", "properties": {
                "l": {"type": "array", "items": {"type": "object", "properties": {
                    **{f"p{n}": {"type": "object"} for n in range(size)},
                    "e": {"type": "object", "x-kubernetes-embedded-resource": True}}}}}},
            {"l": [{"e": {"metadata": {"name": "x"}}} for _ in range(size)]},
        ),
        lambda made: _pruned(*made),
    ),
    Input(
        "patterns", lambda size: "a" * size + "!", lambda value: _checked({"type": "string", "pattern": "^(a+)+$"}, value)
    ),
    Input(
        "columns", lambda size: {"l": [{"a": n} for n in range(size)]}, lambda value: JsonPath("{.l[?(@.a>1)].a}").results(value)
    ),
]  # fmt: skip
CEL = [
    Input("a long expression", lambda size: "1" + "+1" * size, Environment({}).compile),
    Input("a list", lambda size: "[" + "1," * size + "1]", Environment({}).compile),
    Input("parentheses", lambda size: "(" * size + "1" + ")" * size, Environment({}).compile),
    Input("selections", lambda size: "a" + ".b" * size, Environment({"a": "dyn"}).compile),
    Input("a text", lambda size: "'" + "\\n" * size + "'", Environment({}).compile),
    Input("errors", lambda size: " + ".join(f"x{number}" for number in range(size)), Environment({}).compile),
    Input(
        "a loop",
        lambda size: {"a": list(range(size))},
        lambda data: Environment({"a": "dyn"}).compile("a.map(x, x).all(x, x >= 0)").run(data),
    ),
]
TEXTS = [
    Input("quantities", lambda size: "1" * size, quantity.parse),
    Input("fractions", lambda size: "0." + "1" * size, quantity.parse),
    Input("exponents", lambda size: "1e" + "9" * size, quantity.parse),
    Input("durations", lambda size: "1h" * size, durations.parse_duration),
    Input("digits of durations", lambda size: "1" * size + "h", durations.parse_duration),
    Input("quoted texts", lambda size: '\n"' * size, go_format.quote),
    Input("regular expressions", lambda size: "(a|b)" * size, compile_pattern),
    Input(
        "base64",
        lambda size: {"data": {"a": "!" * size}},
        lambda value: Decoder().decode(kind_type("", "v1", "Secret"), value),
    ),
    Input(
        "times",
        lambda size: {"metadata": {"creationTimestamp": f"2026-01-02T03:04:05.{'1' * size}Z"}},
        lambda value: Decoder().decode(POD, value),
    ),
]


def _naming(size: int) -> list[Object]:
    parts = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
    return [{**parts, "resourceNames": [f"n{number}"]} for number in range(size)]


RULES = [Input("rules that name one object each", _naming, RuleSet)]


def _wide_service(size: int) -> Object:
    ports = [{"name": f"p{number}", "port": number + 1} for number in range(size)]
    return {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": ports}}


def _node_ports(service: Object, *, dry_run: bool) -> None:
    pool = PortPool(MemoryStore(), PortRange(1, 65535), lambda: "", Random(1))
    PortPlan(pool, service, None, dry_run).decide(set())


PORTS = [
    Input("node ports", _wide_service, partial(_node_ports, dry_run=False)),
    Input("node ports of a dry run", _wide_service, partial(_node_ports, dry_run=True)),
]
INPUTS = {
    "JSON": JSON, "YAML": YAML, "protobuf": PROTOBUF, "patches": PATCHES, "apply": APPLY, "selectors": SELECTORS,
    "custom resources": CUSTOM, "CEL": CEL, "texts": TEXTS, "rules": RULES, "ports": PORTS,
}  # fmt: skip


@pytest.mark.parametrize(
    "input_",
    [pytest.param(row, id=f"{area}: {row.name}") for area, rows in INPUTS.items() for row in rows],
)
def test_twice_the_input_takes_at_most_twice_the_time(input_: Input) -> None:
    """CVE-2019-11253, CVE-2019-11254, CVE-2019-1002100 and the like: a request of megabytes costs as much as its bytes say."""
    assert growth(input_) <= MOST_GROWTH


def test_what_is_quadratic_is_found() -> None:
    """The measure itself: a loop in a loop is no linear thing."""

    def quadratic(size: int) -> None:
        for _ in range(size):
            for _ in range(size):
                pass

    assert growth(Input("quadratic", lambda size: size, quadratic, largest=1 << 11)) > MOST_GROWTH
    assert growth(Input("nothing", lambda size: size, lambda size: None, largest=1 << 12)) == 1.0


@pytest.mark.parametrize(("power", "grows"), [(1, False), (2, True)])
def test_a_machine_on_which_all_that_is_large_is_slow(
    power: int, grows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others do to the processor's caches is no fault of the input, and does not hide one either."""
    monkeypatch.setattr(
        doubling, "seconds", lambda input_, size: 1e-6 * size ** (1.5 if input_ is LINEAR else 1.5 * power)
    )
    assert (growth(Input("any", int, int)) > MOST_GROWTH) == grows


def test_input_is_made_without_time() -> None:
    """Only what the program does counts, not the making of the input."""
    slow = Input(
        "slow to make", lambda size: [time.thread_time() for _ in range(size)], lambda made: sum(made[:100])
    )
    assert growth(Input(slow.name, slow.make, slow.take, largest=1 << 12)) == 1.0
