"""The annotation that holds what was applied last."""

from __future__ import annotations

import copy

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.output.json import dumps

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def configuration(value: Object, typed: bool = False, complete: bool = True) -> str:
    """Return the text of the annotation for an object: the object without the annotation."""
    plain = copy.deepcopy(value)
    annotations = plain.setdefault("metadata", {}).get("annotations")
    if annotations is None:
        annotations = {}
        if not typed and complete:
            plain["metadata"]["annotations"] = annotations
    annotations.pop(ANNOTATION, None)
    return dumps(plain, indent=None, typed=typed) + "\n"


def annotate(value: Object, typed: bool = False) -> Object:
    """Return the object with the annotation."""
    text = configuration(value, typed)
    metadata = dict(value.get("metadata") or {})
    metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: text}
    return {**value, "metadata": metadata}


def read(value: Object) -> str | None:
    """Return what was applied last, if anything."""
    return ((value.get("metadata") or {}).get("annotations") or {}).get(ANNOTATION)


def remembered(value: Object, wanted: bool) -> Object:
    """Return an object with what is to be remembered of it: if that is wanted, or if it has been remembered before."""
    return annotate(value) if wanted or read(value) is not None else value
