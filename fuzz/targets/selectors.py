"""Label and field selectors: what is understood is written so that it is understood again, to the same end."""

from __future__ import annotations

from fuzz.engine.target import Target
from pybernetes.api import selectors

_LABELS: tuple[dict[str, str], ...] = ({}, {"a": "b"}, {"app": "web", "tier": "1", "example.com/x": ""})


def run(data: bytes) -> None:
    """Parse both kinds of selectors, and match some labels."""
    text = data.decode("latin-1")
    try:
        selectors.parse_fields(text)
    except selectors.SelectorError:
        pass
    selector = selectors.parse_labels(text)
    for labels in _LABELS:
        assert isinstance(selector.matches(labels), bool)


TARGET = Target(
    run,
    (selectors.SelectorError,),
    seeds=(
        b"app=web,tier!=2,!gone,x in (a,b, c),y notin (d),z,n>5,m<3",
        b"metadata.name=a,status.phase!=Running,spec.x==\\,b",
        b"example.com/x == a",
    ),
    words=(b"=", b"==", b"!=", b"!", b",", b" in ", b" notin ", b"(", b")", b">", b"<", b"\\", b"\\=", b" ", b"a/b", b"exists"),
    per_byte=20e-6,
)  # fmt: skip
