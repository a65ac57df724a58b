"""How a library declares its functions: a name, an identifier, a signature and what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pybernetes.api.cel import types
from pybernetes.api.cel.runtime import kind_of
from pybernetes.api.cel.types import Type, named, resolve


class Overload:
    """One way to call a function."""

    __slots__ = ("call", "cost", "gives", "id", "member", "name", "params", "wanted", "_generic")

    def __init__(
        self, name: str, identifier: str, signature: str, call: Callable[..., Any], member: bool
    ) -> None:
        takes, _, gives = signature.partition("->")
        self.name, self.id, self.call, self.member = name, identifier, call, member
        # What a call costs, as a function of the arguments and the result; None means 1.
        self.cost: Callable[[tuple[Any, ...], Any], int] | None = None
        self.params = [named(part) for part in takes.split()]
        self.gives = named(gives.strip())
        self._generic = any(map(_is_generic, [*self.params, self.gives]))
        # What arguments have to be when this is found out late.
        self.wanted = tuple(
            "" if param.kind in ("dyn", "param") else param.name or param.kind for param in self.params
        )

    def fresh(self) -> tuple[list[Type], Type]:
        """Return the types of parameters and result, with variables of their own."""
        if not self._generic:
            return self.params, self.gives
        known: types.Mapping = {}
        for letter in "ABKVRT":
            known[letter] = types.variable()
        return [resolve(param, known, True) for param in self.params], resolve(self.gives, known, True)

    def takes(self, args: tuple[Any, ...]) -> bool:
        """Return whether arguments are of the kinds that are wanted."""
        return all(
            not wanted or kind_of(arg) == wanted or (wanted == "map" and kind_of(arg) == "object")
            for wanted, arg in zip(self.wanted, args, strict=True)
        )

    def __repr__(self) -> str:
        return self.id


def _is_generic(type_: Type) -> bool:
    return type_.kind == "param" or any(map(_is_generic, type_.params))


class Library:
    """Functions by name."""

    def __init__(self) -> None:
        self.overloads: list[Overload] = []

    def function(self, name: str, identifier: str, signature: str, call: Callable[..., Any]) -> None:
        """Declare a function."""
        self.overloads.append(Overload(name, identifier, signature, call, False))

    def method(self, name: str, identifier: str, signature: str, call: Callable[..., Any]) -> None:
        """Declare a function that is called on its first argument."""
        self.overloads.append(Overload(name, identifier, signature, call, True))
