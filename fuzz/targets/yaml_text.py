"""YAML: a value that has a JSON form, or a refusal; the plain reader of kubectl agrees where it reads at all."""

from __future__ import annotations

import orjson

from fuzz.engine.target import Target
from pybernetes.api.text import yaml_reader
from pybernetes.lib import plain_yaml


def run(data: bytes) -> None:
    """Read it with both readers; what they give can be written as JSON."""
    try:
        value, _ = yaml_reader.loads(data)
    except yaml_reader.YamlError:
        return
    orjson.dumps(value)
    try:
        text = data.decode()
        plain = plain_yaml.parse(text)
    except (UnicodeDecodeError, plain_yaml.NotPlain):
        return
    assert plain == value, (plain, value)


TARGET = Target(
    run,
    seeds=(
        b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels: {a: b}\nspec:\n  containers:\n  - name: c\n    image: 'd'\n",
        b"a: &x [1, 2.5, 0x1f, 0o17, yes, ~, 2001-01-01]\nb: *x\nc: {<<: {d: 1}, e: |\n  text\n  more\n}\n",
        b"clusters:\n- name: a\n  cluster:\n    server: https://127.0.0.1:6443\n",
        b"? key\n: - a\n  - !!binary aGVsbG8=\n  - !!str 1\n--- \nsecond\n",
    ),
    words=(
        b"&a ", b"*a", b"<<: ", b"!!binary ", b"!!float ", b"!!int ", b"!!null ", b"? ", b": ", b"- ", b"\n", b"\n  ", b"|\n", b">-\n",
        b"---\n", b"...\n", b"{", b"}", b"[", b"]", b"'", b'"', b"#", b"%YAML 1.1\n", b".inf", b".nan", b"0x", b"\t", b"yes", b"1_000",
    ),
    per_byte=40e-6,
)  # fmt: skip
