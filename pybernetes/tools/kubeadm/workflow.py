"""Commands that consist of phases: all in their order, without some, or one alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pybernetes.api.errors import StatusError
from pybernetes.lib.flags import Flag
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.errors import KubeadmError


@dataclass(frozen=True, slots=True)
class Phase:
    """A step of a command, perhaps with steps of its own: what it does itself comes before those.

    ``flags`` are the names of those flags of the command, with spaces between, that the step takes when it is run alone.
    An ``optional`` step runs only if it is named.
    """

    name: str
    short: str
    run: Callable[[Any], Awaitable[None]] | None = None
    phases: tuple[Phase, ...] = ()
    flags: str = ""
    own_flags: tuple[Flag, ...] = ()  # that only the step has
    words: str = ""  # what may stand behind it when it is run alone
    aliases: tuple[str, ...] = ()
    hidden: bool = False
    optional: bool = False


def _walk(phases: Iterable[Phase], prefix: str = "") -> Iterator[tuple[str, Phase]]:
    for phase in phases:
        path = f"{prefix}{phase.name}"
        yield path, phase
        yield from _walk(phase.phases, f"{path}/")


def listing(phases: Sequence[Phase], command: str) -> str:
    """Return the phases as the help of a command shows them."""
    shown = [
        (path.count("/"), phase)
        for path, phase in _walk(phases)
        if not phase.hidden
    ]  # fmt: skip
    rows = [("  " * depth + ("/" if depth else "") + phase.name, phase.short) for depth, phase in shown]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {short}" for name, short in rows]
    return "\n".join([f'The "{command}" command executes the following phases:', *lines])


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
        if phase.optional or path in skipped:
            continue
        if phase.run is not None:
            try:
                await phase.run(data)
            except (KubeadmError, StatusError, OSError) as error:
                raise KubeadmError(f"error execution phase {path}: {error}") from error
        await _run(phase.phases, data, skipped, f"{path}/")


async def run_one(phases: Sequence[Phase], names: Sequence[str], data: Any) -> None:
    """Run the phase that names lead to, and not what those above it do themselves: ``certs ca``, ``certs``, ``preflight``."""
    prefix, listed = "", phases
    for name in names[:-1]:
        above = next(phase for phase in listed if phase.name == name)
        prefix, listed = f"{prefix}{name}/", above.phases
    named = [replace(phase, optional=False) for phase in listed if phase.name == names[-1]]
    await _run(named, data, set(), prefix)


def command(
    summary: str,
    phases: Sequence[Phase],
    flags: tuple[Flag, ...],
    work: Callable[[Arguments, tuple[str, ...]], None],
) -> Command:
    """Return the command ``phase``, below which every phase is one that takes its own flags."""
    by_name = {flag.name: flag for flag in flags}

    def leaf(phase: Phase, path: tuple[str, ...], name: str, summary: str) -> Command:
        taken = sorted(_flags_of(phase))
        return Command(
            name, summary, lambda arguments: work(arguments, path), (*(by_name[flag] for flag in taken), *phase.own_flags),
            words=phase.words, most=1 if phase.words else 0, others=flags, aliases=phase.aliases if not phase.phases else (),
            hidden=phase.hidden,
        )  # fmt: skip

    def made(phase: Phase, above: tuple[str, ...]) -> Command:
        path = (*above, phase.name)
        if not phase.phases:
            return leaf(phase, path, phase.name, phase.short)
        below = (
            leaf(phase, path, "all", f"{phase.short}: all of it"),
            *(made(step, path) for step in phase.phases),
        )
        # Only one step, which is called by its name.
        below = below[1:] if len(phase.phases) == 1 and not phase.flags else below
        return Command(phase.name, phase.short, commands=below, aliases=phase.aliases, hidden=phase.hidden)

    return Command("phase", summary, commands=tuple(made(phase, ()) for phase in phases))


def _flags_of(phase: Phase) -> set[str]:
    return set(phase.flags.split()).union(*(_flags_of(step) for step in phase.phases if not step.optional))
