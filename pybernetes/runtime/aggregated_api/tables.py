"""Objects as rows, for clients that print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.lib.http import accept
from pybernetes.lib.http.messages import Request


def wanted(request: Request) -> str:
    """Return the version of the table that a client wants before plain JSON; empty if it wants none."""
    for clause in accept.parse(request.header(b"accept")):
        parameters = clause.parameters
        if clause.type != "application/json":
            continue
        if not parameters.get("as"):
            return ""
        if parameters["as"] == "Table" and parameters.get("g") == "meta.k8s.io":
            version = parameters.get("v", "")
            if version in ("v1", "v1beta1"):
                return version
    return ""


def row(item: Object, cells: list[Any], request: Request) -> Object:
    """Return an object as a row, with as much of itself as the client wants."""
    include = request.parameter("includeObject")
    if include == "None":
        return {"cells": cells}
    if include != "Object":
        item = {
            "kind": "PartialObjectMetadata",
            "apiVersion": f"meta.k8s.io/{wanted(request)}",
            "metadata": item["metadata"],
        }
    return {"cells": cells, "object": item}


def table(rows: Sequence[Any], columns: Sequence[Object], request: Request) -> Object:
    """Return rows, or what was written of them, as a table."""
    return {
        "kind": "Table", "apiVersion": f"meta.k8s.io/{wanted(request)}", "metadata": {},
        "columnDefinitions": list(columns), "rows": list(rows),
    }  # fmt: skip
