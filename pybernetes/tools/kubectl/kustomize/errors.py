"""Errors of a build, in the words of the original."""

from __future__ import annotations

from contextlib import contextmanager

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator


class BuildError(CommandError):
    """The kustomization cannot be built."""


class TooLarge(BuildError):
    """The build would take more than it may; nothing tries something else then."""


class WrongKind(BuildError):
    """A value is of another kind than the one that is needed; ``actual`` is its kind."""

    actual = 0


@contextmanager
def wrapped(prefix: str) -> Iterator[None]:
    """Put a prefix before the text of an error that comes out of the block."""
    try:
        yield
    except TooLarge:
        raise
    except BuildError as error:
        error.message = f"{prefix}: {error.message}"
        raise
