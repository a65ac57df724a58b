"""JSONPath templates of kubectl and of printed columns."""

from __future__ import annotations

from fuzz.engine.target import Target
from fuzz.targets import _patched
from pybernetes.api.jsonpath.comparison import JsonPathError
from pybernetes.api.jsonpath.template import JsonPath, relaxed


def run(data: bytes) -> None:
    """Parse a template and run it over a Deployment."""
    text = data.decode("utf-8", "replace")
    relaxed(text)
    JsonPath(text).results(_patched.deployment())


TARGET = Target(
    run,
    (JsonPathError,),
    seeds=(
        b"{.spec.template.spec.containers[*].image}",
        b"{range .spec.template.spec.containers[?(@.name=='web')]}{.ports[0].containerPort}{\"\\n\"}{end}",
        b"{..name}{.metadata.labels['app']}{.spec.x[-1:]}{.a[0:2:1]}",
    ),
    words=(b"{", b"}", b".", b"..", b"[", b"]", b"*", b"?(", b")", b"@", b"$", b"'a'", b"==", b"<=", b",", b":", b"{range .spec}", b"{end}", b"-1", b"\\"),
    seconds=1.0, per_byte=200e-6,
    largest=4096,
)  # fmt: skip
