"""CEL expressions: compiled and evaluated within the cost limit, or refused."""

from __future__ import annotations

from fuzz.engine.target import Target
from pybernetes.api.cel.engine import CelError, Environment

_ENVIRONMENT = Environment({"self": "dyn", "oldSelf": "dyn", "size": "int", "name": "string"})
_DATA = {
    "self": {"name": "web", "items": [1, 2, 3], "labels": {"a": "b"}, "cpu": "100m", "url": "https://example.com/x?y=z"},
    "oldSelf": {"items": []},
    "size": 3,
    "name": "web-1",
}  # fmt: skip


def run(data: bytes) -> None:
    """Compile and evaluate an expression."""
    program = _ENVIRONMENT.compile(data.decode("utf-8", "replace"))
    program.run(_DATA, 100_000)


TARGET = Target(
    run,
    (CelError,),
    seeds=(
        b"self.items.all(x, x > 0) && name.startsWith('web') || size(self.labels) == 1",
        b"self.items.map(i, i * 2).filter(i, i > 2).exists_one(i, i == 4) ? 'a' : \"b\" + string(size)",
        b"quantity(self.cpu).isGreaterThan(quantity('1')) && url(self.url).getHostname() == 'example.com'",
        b"has(self.labels.a) && self.labels['a'].matches('^[a-z]+$') && !('x' in self.labels)",
        b"[1, 2u, 3.5, -0x1f, b'\\x00', r'\\d', null, true, {'a': 1}] == [] || name.split('-')[1].find('[0-9]') != ''",
        b"duration('1h30m').getMinutes() > 5 && timestamp('2026-01-02T03:04:05Z').getFullYear() % 4 == 2",
        b"ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.2.3') && name.format([1]) == ''",
    ),
    words=(
        b"self", b"oldSelf", b"name", b"size", b".all(x, ", b".exists(x, ", b".map(x, x)", b".filter(x, true)", b"has(", b")", b"(", b"&&", b"||",
        b"?", b":", b"==", b"!=", b"<", b" in ", b"+", b"*", b"%", b"/", b"-", b"[0]", b"['a']", b"{'a': 1}", b"null", b"'", b'"""', b"\\u0041",
        b".matches('(a*)*b')", b".join(',')", b".replace('a','b')", b"9223372036854775807", b".format(['%s'])", b"duration('1s')", b"cel.bind(a, 1, a)",
        b".lowerAscii()", b".substring(1)", b".indexOf('a')", b".isSorted()", b".sum()", b".min()", b"optional.of(1)", b"type(", b"dyn(", b"int(", b"uint(",
    ),
    seconds=0.3,
    per_byte=100e-6,
    largest=16 << 10,
)  # fmt: skip
