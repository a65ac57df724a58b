"""--profile: where a command spends its time. The file is one of Python's profiler (``python -m pstats``)."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable

# What only the runtime of Go has.
_OF_GO = ("allocs", "block", "goroutine", "heap", "mutex", "threadcreate", "trace")


def profiled(name: str, output: str, work: Callable[[], int | None]) -> int | None:
    """Do some work, and write the profile that was asked for."""
    if name in _OF_GO:
        raise CommandError(f"profile '{name}' is not supported: there is only cpu")
    if name != "cpu":
        raise CommandError(f"unknown profile '{name}'")
    import cProfile

    profile = cProfile.Profile()
    try:
        return profile.runcall(work)
    finally:
        try:
            profile.dump_stats(output)
        except OSError as error:
            raise CommandError(f"open {output}: {(error.strerror or '').lower()}") from None
