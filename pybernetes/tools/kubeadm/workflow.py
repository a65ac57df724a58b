"""Commands that consist of phases: all in their order, without some, or one alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pybernetes.tools.kubeadm.errors import KubeadmError


@dataclass(frozen=True, slots=True)
class Phase:
    """A step of a command, perhaps with steps of its own. ``begin`` runs before those, if any of them does."""

    name: str
    short: str
    run: Callable[[Any], Awaitable[None]] | None = None
    phases: tuple[Phase, ...] = ()


def _walk(phases: Iterable[Phase], prefix: str = "") -> Iterator[tuple[str, Phase]]:
    for phase in phases:
        path = f"{prefix}{phase.name}"
        yield path, phase
        yield from _walk(phase.phases, f"{path}/")


def listing(phases: Sequence[Phase]) -> str:
    """Return the phases as the help of a command shows them."""
    rows = [
        (("  /" if "/" in path else "") + phase.name, phase.short, "/" in path)
        for path, phase in _walk(phases)
    ]
    width = max(len(name) for name, _, _ in rows)
    return "\n".join(f"{name:<{width}}{'  ' if inner else ''}  {short}" if not inner else f"{name:<{width + 2}}{short}"
                     for name, short, inner in rows)  # fmt: skip


def check_names(phases: Sequence[Phase], names: Iterable[str]) -> None:
    """Refuse names that no phase has."""
    known = {path for path, _ in _walk(phases)}
    for name in names:
        if name not in known:
            raise KubeadmError(f"invalid phase name: {name}")


async def run(phases: Sequence[Phase], data: Any, skip: Iterable[str] = ()) -> None:
    """Run all phases but those to skip; a phase that is skipped skips its own steps."""
    skipped = set(skip)
    check_names(phases, skipped)
    await _run(phases, data, skipped, "")


async def _run(phases: Iterable[Phase], data: Any, skipped: set[str], prefix: str) -> None:
    for phase in phases:
        path = f"{prefix}{phase.name}"
        if path in skipped:
            continue
        if phase.run is not None:
            await phase.run(data)
        await _run(phase.phases, data, skipped, f"{path}/")


async def run_one(phases: Sequence[Phase], words: Sequence[str], data: Any, command: str) -> None:
    """Run the phase that words name: ``certs all``, ``certs ca``, ``preflight``."""
    chosen, begun = find(phases, words, command)
    for phase in begun:
        if phase.run is not None:
            await phase.run(data)
    await _run((chosen,), data, set(), "")


def find(phases: Sequence[Phase], words: Sequence[str], command: str) -> tuple[Phase, list[Phase]]:
    """Return the phase that words name, and those above it; KubeadmError if there is none."""
    above: list[Phase] = []
    listed: Sequence[Phase] = phases
    chosen: Phase | None = None
    for word in words:
        if chosen is not None and word == "all" and chosen.phases:
            return chosen, above
        if chosen is not None:
            above.append(chosen)
        chosen = next((phase for phase in listed if phase.name == word), None)
        if chosen is None:
            where = " ".join([command, "phase", *(phase.name for phase in above)])
            raise KubeadmError(f'unknown command "{word}" for "{where}"')
        listed = chosen.phases
    if chosen is None:
        raise KubeadmError(f"name a phase:\n{listing(phases)}")
    if chosen.phases:
        names = "|".join(phase.name for phase in chosen.phases)
        raise KubeadmError(f'"{chosen.name}" has steps of its own: all|{names}')
    return chosen, above
