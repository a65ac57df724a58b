"""Who owns the pods of a pass, in columns: how many pods an owner has is asked of all of them at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pybernetes.control_plane.descheduler.pod_records import Owner, PodRecord
from pybernetes.scheduling.columns import Bools, Ints


class Owners:
    """A number for each owner; most pods have one, some have none, few have several."""

    def __init__(self, records: Sequence[PodRecord]) -> None:
        numbers: dict[str, int] = {}
        known: dict[tuple[Owner, ...], int] = {(): -1}
        rows: list[int] = []
        several: list[int] = []
        only = []
        for row, record in enumerate(records):
            number = known.get(record.owners)
            if number is None:
                codes = [numbers.setdefault(owner.uid, len(numbers)) for owner in record.owners]
                number = -1
                if len(codes) == 1:
                    number = known[record.owners] = codes[0]
                else:
                    rows += [row] * len(codes)
                    several += codes
            only.append(number)
        self._count = len(numbers)
        self._only: Ints = np.array(only, dtype=np.int64)  # the only owner of each pod, or -1
        # Pods with several owners, as often as they have owners, and these.
        self._rows: Ints = np.array(rows, dtype=np.int64)
        self._several: Ints = np.array(several, dtype=np.int64)

    def with_replicas(self, least: int, alive: Bools) -> Bools:
        """Return the pods of which their only owner has enough; pods with none or with several owners are let be."""
        owning = np.concatenate((self._only[alive & (self._only >= 0)], self._several[alive[self._rows]]))
        enough = np.bincount(owning, minlength=self._count) >= least
        return np.append(enough, True)[self._only]  # the last is for those at -1
