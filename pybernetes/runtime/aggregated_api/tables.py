"""Objects as rows, for clients that print them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def table(
    items: Sequence[Object], columns: Sequence[Object], cells: Callable[[Object], list[Any]], request: Request
) -> Object:
    """Return objects as a table, each with as much of itself as the client wants."""
    version, include = wanted(request), request.parameter("includeObject")
    rows = []
    for item in items:
        row: Object = {"cells": cells(item)}
        if include == "Object":
            row["object"] = item
        elif include != "None":
            row["object"] = {
                "kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{version}", "metadata": item["metadata"]
            }  # fmt: skip
        rows.append(row)
    return {
        "kind": "Table", "apiVersion": f"meta.k8s.io/{version}", "metadata": {},
        "columnDefinitions": list(columns), "rows": rows,
    }  # fmt: skip
