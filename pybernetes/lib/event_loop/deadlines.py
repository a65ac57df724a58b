"""Time limits of many tasks at once: all have the same time, so that one timer will do for all of them.

``asyncio.timeout`` makes and cancels a timer for each, which costs more than most of the work that it watches over.
"""

from __future__ import annotations

import asyncio
from types import TracebackType


class Deadlines:
    """``with deadlines():`` gives what is inside its time, or ends it with a TimeoutError."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # In the order in which they are due.
        self.running: dict[Deadline, None] = {}
        # Whether a timer runs for the first of them.
        self.is_waiting = False

    def __call__(self) -> Deadline:
        """Return a new limit, which begins when it is entered."""
        return Deadline(self)

    def look_at(self, due: float, loop: asyncio.AbstractEventLoop) -> None:
        """Set a timer for the first one."""
        self.is_waiting = True
        loop.call_at(due, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """End those whose time is up, and come back for the next one."""
        self.is_waiting = False
        now = loop.time()
        while self.running:
            deadline = next(iter(self.running))
            if deadline.due > now:
                self.look_at(deadline.due, loop)
                return
            del self.running[deadline]
            deadline.end()


class Deadline:
    """One limit of the task that enters it."""

    __slots__ = ("_all", "_before", "_is_late", "_task", "due")

    def __init__(self, deadlines: Deadlines) -> None:
        self._all = deadlines
        self._is_late = False
        self.due = 0.0

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        assert task is not None
        self._task, self._before = task, task.cancelling()
        deadlines = self._all
        due = self.due = loop.time() + deadlines.seconds
        deadlines.running[self] = None
        if not deadlines.is_waiting:
            deadlines.look_at(due, loop)

    def end(self) -> None:
        """Interrupt the task: its time is up."""
        self._is_late = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._all.running.pop(self, None)
        # Someone else may want the task to end as well: then it does.
        if self._is_late and self._task.uncancel() <= self._before and kind is asyncio.CancelledError:
            raise TimeoutError from error
