"""An informer of a server that is not trusted: its objects have a budget, its answers may be anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.runtime.budget import Budget, OverBudget, weight
from pybernetes.runtime.informer import Informer

# A server with too many objects is not asked for all of them again before that.
_OVER_BUDGET_SECONDS = 300.0
_CHUNK = 100  # objects of a list, so that an answer is not too large
_EVENT_BYTES = 256  # what an event costs at least, in the measure of the budget


class Nonsense(OSError):
    """An answer that no API server gives."""


class WaryInformer(Informer):
    """Follows a server that may have been restored from a backup when it comes back, that may be broken, or that lies."""

    def __init__(self, *arguments: Any, budget: Budget, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._budget = budget
        self._weights: dict[str, int] = {}
        self._collected: int | None = None  # the weight of a list so far
        self._work = 0  # the weight of what came since the last pause
        self._kept, self._transform = self._transform, self._weighed

    # -- what comes is weighed ---------------------------------------------------------------------------

    def _weighed(self, obj: Object) -> Object:
        kept = self._kept(obj) if self._kept is not None else obj
        taken = weight(kept)
        self._work += taken
        if self._collected is not None:
            self._collected += taken
            self._budget.check(self._collected)
        return kept

    def put(self, key: str, obj: Object) -> Object | None:
        """Store an object, if there is room for it."""
        taken = weight(obj)
        self._budget.change(self._weights.get(key, 0), taken)
        self._weights[key] = taken
        return super().put(key, obj)

    def remove(self, key: str) -> Object | None:
        """Remove an object."""
        self._budget.change(self._weights.pop(key, 0), 0)
        return super().remove(key)

    def _pause(self, events: int) -> float:
        work, self._work = self._work + events * _EVENT_BYTES, 0
        return self._budget.pause(work)

    # -- what makes no sense -----------------------------------------------------------------------------

    async def _list(self) -> None:
        with _wary():
            collected: dict[str, Object] = {}
            self._collected, token, version = 0, "", ""
            while token or not version:
                page = await self.client.list_page(
                    self.ref, self.namespace, labels=self.labels, fields=self.fields, limit=_CHUNK,
                    continue_token=token, metadata_only=self.metadata_only,
                )  # fmt: skip
                self._collect([("ADDED", obj) for obj in page.items], collected)
                token, version = page.continue_token, version or page.resource_version or "0"
                await self._clock.sleep(self._pause(len(page.items)))
            self._replace(collected, version)

    async def _watch(self) -> None:
        with _wary():
            self._collected = None if self.resource_version else 0
            await super()._watch()

    def _replace(self, items: dict[str, Object], version: str) -> None:
        self._collected = None
        super()._replace(items, version)

    def _seen(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a resourceVersion of the type {type(text).__name__}")
        super()._seen(text)

    def _lost(self) -> None:
        self.resource_version = ""  # what comes back may be older
        if isinstance(self.error, OverBudget):
            self.forget()

    def forget(self) -> None:
        """Make room; nobody is told, because nothing is known to be gone."""
        self._synced.clear()
        for key in list(self.keys()):
            self.remove(key)

    def _delay(self, failures: int) -> float:
        return _OVER_BUDGET_SECONDS if isinstance(self.error, OverBudget) else super()._delay(failures)


@contextmanager
def _wary() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        text = f"the server's answer makes no sense: {type(error).__name__}: {error}"
        raise Nonsense(text[:256]) from error
