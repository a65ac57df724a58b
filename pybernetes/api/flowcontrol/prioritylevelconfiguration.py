"""PriorityLevelConfiguration: how many requests of a level run at once, and what happens to the others."""

from __future__ import annotations

from math import ceil, log2
from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.flowcontrol import GROUP
from pybernetes.api.flowcontrol._conditions import validate_conditions, validate_status_update
from pybernetes.api.resource import KEEPS_METADATA, Column, Object, Resource
from pybernetes.api.status import start_empty
from pybernetes.api.table import AGE, NAME, get

_SPEC = Path("spec")
_MOST_QUEUES = 10_000_000
_HASH_BITS = 60
_KEEP_ZERO = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
CATCH_ALL = {
    "type": "Limited",
    "limited": {"nominalConcurrencyShares": 5, "lendablePercent": 0, "limitResponse": {"type": "Reject"}},
}


def default(obj: Object) -> None:
    """Complete shares, percentages and queues."""
    spec = obj.setdefault("spec", {})
    limited, exempt = spec.get("limited"), spec.get("exempt")
    if limited is not None:
        limited.setdefault("nominalConcurrencyShares", 30)
        limited.setdefault("lendablePercent", 0)
        queuing = limited.get("limitResponse", {}).get("queuing")
        if queuing is not None:
            for key, number in (("handSize", 8), ("queues", 64), ("queueLengthLimit", 50)):
                if not queuing.get(key):
                    queuing[key] = number
    if exempt is not None:
        exempt.setdefault("nominalConcurrencyShares", 0)
        exempt.setdefault("lendablePercent", 0)


def validate(obj: Object, errors: Errors) -> None:
    """Check the limits, and that the levels which every cluster has keep their form."""
    metadata, spec = obj["metadata"], obj.get("spec", {})
    name = metadata.get("name", "")
    if _KEEP_ZERO in metadata.get("annotations", ()):
        errors.forbidden(Path("metadata") / "annotations", f"annotation '{_KEEP_ZERO}' is forbidden")
    kind, limited, exempt = spec.get("type", ""), spec.get("limited"), spec.get("exempt")
    if (name == "exempt") != (kind == "Exempt"):
        errors.invalid(_SPEC / "type", kind, "must be 'Exempt' if and only if `name` is 'exempt'")
    if kind == "Exempt" and exempt is not None:
        _shares(exempt, _SPEC / "exempt", errors)
        _lendable(exempt, _SPEC / "exempt", errors)
    elif kind == "Limited" and limited is not None:
        _limited(limited, _SPEC / "limited", errors)
    elif kind and kind not in ("Exempt", "Limited"):
        errors.unsupported(_SPEC / "type", kind, ("Exempt", "Limited"))
    if name == "exempt" and {key: value for key, value in spec.items() if key != "exempt"} != {
        "type": "Exempt"
    }:
        errors.invalid(
            _SPEC, spec, "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value"
        )
    if name == "catch-all" and spec != CATCH_ALL:
        errors.invalid(_SPEC, spec, "spec of 'catch-all' must equal the fixed value")
    validate_conditions(obj, errors)
    _union(spec, errors)


def _union(spec: Object, errors: Errors) -> None:
    """Check that what goes with the types is there, and only that."""
    kind, limited = spec.get("type", ""), spec.get("limited")
    if kind != "Limited" and limited is not None:
        errors.forbidden(_SPEC / "limited")
    elif kind == "Limited" and limited is None:
        errors.required(_SPEC / "limited")
    if not kind:
        errors.required(_SPEC / "type")
    if limited is not None:
        response = limited.get("limitResponse", {})
        path = _SPEC / "limited" / "limitResponse"
        if not response.get("type"):
            errors.required(path / "type")
        elif response["type"] == "Queue" and "queuing" not in response:
            errors.required(path / "queuing")
        elif response["type"] == "Reject" and "queuing" in response:
            errors.forbidden(path / "queuing")
    if kind == "Limited" and "exempt" in spec:
        errors.forbidden(_SPEC / "exempt")


def _shares(level: Object, path: Path, errors: Errors) -> None:
    shares = level.get("nominalConcurrencyShares", 0)
    if shares < 0:
        errors.invalid(path / "nominalConcurrencyShares", shares, "must be a non-negative integer")


def _lendable(level: Object, path: Path, errors: Errors) -> None:
    lendable = level.get("lendablePercent", 0)
    if not 0 <= lendable <= 100:
        errors.invalid(path / "lendablePercent", lendable, "must be between 0 and 100, inclusive")


def _limited(limited: Object, path: Path, errors: Errors) -> None:
    _shares(limited, path, errors)
    response = limited.get("limitResponse", {})
    kind = response.get("type", "")
    if kind == "Queue" and "queuing" in response:
        _queuing(response["queuing"], path / "limitResponse" / "queuing", errors)
    elif kind and kind not in ("Queue", "Reject"):
        errors.unsupported(path / "limitResponse" / "type", kind, ("Queue", "Reject"))
    _lendable(limited, path, errors)
    borrowing = limited.get("borrowingLimitPercent", 0)
    if borrowing < 0:
        text = "if specified, must be a non-negative integer"
        errors.invalid(path / "borrowingLimitPercent", borrowing, text)


def _queuing(queuing: Object, path: Path, errors: Errors) -> None:
    length, queues = queuing.get("queueLengthLimit", 0), queuing.get("queues", 0)
    hand = queuing.get("handSize", 0)
    if length <= 0:
        errors.invalid(path / "queueLengthLimit", length, "must be positive")
    if queues <= 0:
        errors.invalid(path / "queues", queues, "must be positive")
    elif queues > _MOST_QUEUES:
        errors.invalid(path / "queues", queues, f"must not be greater than {_MOST_QUEUES}")
    if hand <= 0:
        errors.invalid(path / "handSize", hand, "must be positive")
    elif hand > queues:
        errors.invalid(path / "handSize", hand, f"should not be greater than queues ({queues})")
    elif ceil(log2(queues) * hand) > _HASH_BITS:
        text = f"required entropy bits of deckSize {queues} and handSize {hand}"
        errors.invalid(path / "handSize", hand, f"{text} should not be greater than {_HASH_BITS}")


def _shown(path: str) -> Any:
    return lambda obj, now: get(obj, path, "<none>")


_QUEUING = ".spec.limited.limitResponse.queuing"

RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="PriorityLevelConfiguration",
    plural="prioritylevelconfigurations",
    namespaced=False,
    subresources=("status",),
    reset=KEEPS_METADATA,
    generation=True,
    columns=(
        NAME,
        Column("Type", lambda obj, now: get(obj, ".spec.type", "")),
        Column("NominalConcurrencyShares", _shown(".spec.limited.nominalConcurrencyShares")),
        Column("Queues", _shown(_QUEUING + ".queues")),
        Column("HandSize", _shown(_QUEUING + ".handSize")),
        Column("QueueLengthLimit", _shown(_QUEUING + ".queueLengthLimit")),
        AGE,
    ),
    default=default,
    prepare_create=start_empty,
    validate=validate,
    validate_status_update=validate_status_update,
)
