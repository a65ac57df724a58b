"""The functions of expressions: CEL's own, and the libraries that Kubernetes adds, one file each."""

from __future__ import annotations

from functools import cache

from pybernetes.api.cel.library.declare import Overload


@cache
def functions() -> dict[str, list[Overload]]:
    """Return every function with its overloads, put together when the first expression comes."""
    from pybernetes.api.cel import cost
    from pybernetes.api.cel.library import authorizer, formats, lists, network, numbers, standard, strings

    overloads: dict[str, list[Overload]] = {}
    for module in (standard, strings, lists, network, numbers, formats, authorizer):
        for overload in module.LIBRARY.overloads:
            texts = any(param.kind in ("string", "bytes") for param in overload.params)
            overload.cost = cost.of_call(overload.name, overload.id, texts)
            overloads.setdefault(overload.name, []).append(overload)
    return overloads
