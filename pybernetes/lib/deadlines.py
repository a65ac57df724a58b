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
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self) -> Deadline:
        """Return a new limit, which begins when it is entered."""
        return Deadline(self)

    def begin(self, deadline: Deadline) -> None:
        """Watch over one more."""
        loop = asyncio.get_running_loop()
        deadline.due = loop.time() + self.seconds
        self.running[deadline] = None
        if self._timer is None:
            self._timer = loop.call_at(deadline.due, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """End those whose time is up, and come back for the next one."""
        self._timer = None
        now = loop.time()
        while self.running:
            deadline = next(iter(self.running))
            if deadline.due > now:
                self._timer = loop.call_at(deadline.due, self._look, loop)
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
        task = asyncio.current_task()
        assert task is not None
        self._task, self._before = task, task.cancelling()
        self._all.begin(self)

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
