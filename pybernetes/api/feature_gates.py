"""The feature gates of Kubernetes v1.37: which there are, and what a command line may say of them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from pybernetes.lib import flags
from pybernetes.lib.metrics.exposition import Exposition

log = logging.getLogger(__name__)

FLAG = flags.Flag("feature-gates", (), "features to turn on or off: Name=true,Other=false")
# These stand for every gate of their stage.
_ALL = {"AllAlpha": "Alpha", "AllBeta": "Beta"}
# Gates that were removed after their features became part of everything; setting them is harmless.
_RETIRED = frozenset(
    {
        "IPv6DualStack",
        "RotateKubeletServerCertificate",
        "PodSecurity",
        "EphemeralContainers",
        "ServiceAccountIssuerDiscovery",
    }
)


class Gate(NamedTuple):
    """One gate: Alpha, Beta, GA or Deprecated, what it is when nobody says, and whether that can be changed."""

    stage: str
    default: bool
    locked: bool


@lru_cache(maxsize=1)
def known() -> dict[str, Gate]:
    """Return every gate of v1.37 by its name."""
    gates: dict[str, Gate] = {}
    gate = Gate("", False, False)
    for line in files(__package__).joinpath("feature_gates.txt").read_text().splitlines():
        if line.startswith("["):
            stage, default, *locked = line[1:-1].split()
            gate = Gate(stage, default == "on", bool(locked))
        elif line and line[0] != "#":
            gates |= dict.fromkeys(line.split(), gate)
    return gates


def parse(texts: Iterable[str]) -> dict[str, bool]:
    """Return what ``Name=true`` texts say; ValueError in upstream's words for what is no such text."""
    given: dict[str, bool] = {}
    for text in filter(None, texts):
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise ValueError(f"missing bool value for {name}")
        try:
            given[name] = flags.boolean(value)
        except ValueError:
            raise ValueError(
                f'invalid value of {name}={value}, err: strconv.ParseBool: parsing "{value}": invalid syntax'
            ) from None
    return given


NATIVE_HISTOGRAMS = "NativeHistograms"
# Which gates every program can switch, and which the programs that only run loops.
_EVERYWHERE = (NATIVE_HISTOGRAMS,)
COORDINATED = "CoordinatedLeaderElection"
HONOURED = {
    "kube-apiserver": (COORDINATED,),
    "kube-controller-manager": ("HPAScaleToZero", COORDINATED),
    "kube-scheduler": (COORDINATED,),
}


def decide(given: Mapping[str, bool], honoured: Iterable[str] = ()) -> dict[str, bool]:
    """Return the state of every gate; ValueError for one that is unknown or locked.

    ``honoured`` are the gates that the program can switch; of the others that are changed, the log says that they cannot be.
    """
    states = {name: gate.default for name, gate in known().items()}
    switchable = {*_EVERYWHERE, *honoured}
    for name, value in given.items():
        _check(name, value)
        for gate_name in switchable.difference(given):
            if known()[gate_name].stage == _ALL.get(name):
                states[gate_name] = value
        if name in _ALL:
            log.warning("feature gate %s=%s changes only those that can be changed here: %s", name, str(value).lower(), ", ".join(sorted(switchable)))  # fmt: skip
    states |= {name: value for name, value in given.items() if name in states}
    for name, value in given.items():
        if name in _RETIRED or (name in states and known()[name].stage in ("GA", "Deprecated")):
            stage = known()[name].stage if name in states else "GA"
            log.warning("setting %s feature gate %s=%s. It will be removed in a future release.", stage, name, str(value).lower())  # fmt: skip
        if name in states and value != known()[name].default and name not in switchable:
            log.warning("feature gate %s=%s changes nothing here", name, str(value).lower())
            states[name] = known()[name].default
    return states


def _check(name: str, value: bool) -> None:
    gate = known().get(name)
    if gate is None:
        if name not in _ALL and name not in _RETIRED:
            raise ValueError(f"unrecognized feature gate: {name}")
    elif gate.locked and gate.default != value:
        shown, default = str(value).lower(), str(gate.default).lower()
        raise ValueError(f"cannot set feature gate {name} to {shown}, feature is locked to {default}")


def from_flag(texts: Iterable[str], honoured: Iterable[str] = ()) -> dict[str, bool]:
    """Return the state of every gate by the values of ``--feature-gates``; ValueError names the flag."""
    given = tuple(texts)
    try:
        return decide(parse(given), honoured)
    except ValueError as error:
        raise ValueError(
            f'invalid argument "{",".join(given)}" for "--feature-gates" flag: {error}'
        ) from None


def of_component(name: str, texts: Iterable[str]) -> dict[str, bool]:
    """Return the state of every gate in one of the programs of ``HONOURED``, after its flag was checked."""
    return decide(parse(tuple(texts)), HONOURED.get(name, ()))


def render(states: Mapping[str, bool], out: Exposition) -> None:
    """Write the metric that tells which features are on."""
    name = "kubernetes_feature_enabled"
    out.family(
        name, "gauge", "[BETA] This metric records the data about the stage and enablement of a k8s feature."
    )
    for gate, state in sorted(states.items()):
        stage = known()[gate].stage
        out.sample(name, (("name", gate), ("stage", "" if stage == "GA" else stage.upper())), int(state))
