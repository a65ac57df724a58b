"""Compiles and evaluates expressions. The engine is Google's own, loaded when the first expression comes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pybernetes.api.cel import functions


class CelError(ValueError):
    """An expression that cannot be compiled, or that failed."""


def _load() -> Any:
    try:
        from cel_expr_python import cel
    except ImportError:
        raise CelError(
            "validation rules need the package cel-expr-python: pip install cel-expr-python"
        ) from None
    return cel


def type_named(signature: str) -> Any:
    """A type by its name: ``int``, ``list(string)``, ``map(string, dyn)`` …"""
    cel = _load()
    plain = {
        "int": cel.Type.INT, "double": cel.Type.DOUBLE, "string": cel.Type.STRING, "bool": cel.Type.BOOL,
        "bytes": cel.Type.BYTES, "dyn": cel.Type.DYN, "timestamp": cel.Type.TIMESTAMP,
        "duration": cel.Type.DURATION,
    }  # fmt: skip
    if signature in plain:
        return plain[signature]
    if signature.startswith("list("):
        return cel.Type.List(type_named(signature[5:-1]))
    return cel.Type.Map(cel.Type.STRING, type_named(signature.removeprefix("map(string, ")[:-1]))


@lru_cache(maxsize=256)
def _environment(variables: tuple[tuple[str, str], ...]) -> Any:
    cel = _load()
    from cel_expr_python.ext import ext_bindings, ext_encoders, ext_math, ext_optional, ext_strings

    extensions = [
        ext_strings.ExtStrings(), ext_math.ExtMath(), ext_optional.ExtOptional(), ext_bindings.ExtBindings(),
        ext_encoders.ExtEncoders(),
    ]  # fmt: skip
    return cel.NewEnv(
        variables={name: type_named(signature) for name, signature in variables},
        extensions=extensions,
        functions=functions.declarations(cel),
    )


class Program:
    """A compiled expression."""

    def __init__(self, source: str, variables: Mapping[str, str]) -> None:
        """Compiles for variables with the given types; CelError in the compiler's words."""
        environment = _environment(tuple(sorted(variables.items())))
        try:
            self._expression = environment.compile(source)
        except RuntimeError as error:
            text = str(error).removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
            raise CelError(text) from None
        self.returns = self._expression.return_type().name()

    def evaluate(self, data: Mapping[str, Any]) -> Any:
        """The value of the expression; CelError if it has none."""
        try:
            result = self._expression.eval(data=data)
        except RuntimeError as error:
            text = str(error)
            if "budget exceeded" in text:
                raise CelError("operation cancelled: actual cost limit exceeded") from None
            raise CelError(text) from None
        value = result.plain_value()
        if result.type() == _load().Type.ERROR:
            raise CelError(_reason(str(value)))
        return value


def _reason(text: str) -> str:
    """An error of the engine in the words of the one that Kubernetes has."""
    code, _, rest = text.partition(": ")
    if rest.startswith("Key not found in map"):
        return "no such key: " + rest.partition(" : ")[2].strip('"')
    if rest.startswith("Index error"):
        return "index out of bounds: " + rest.partition("index=")[2].partition(" ")[0]
    if rest.startswith("No matching overloads found"):
        return "no such overload"
    return rest if code.isupper() and rest else text
