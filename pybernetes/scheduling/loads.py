"""What a set of pods takes from each node, as columns."""

from __future__ import annotations

import numpy as np

from pybernetes.scheduling.columns import Ints, grown
from pybernetes.scheduling.pods import Pod


class Load:
    """How many pods each row has, and how much of each resource they take."""

    def __init__(self, capacity: int) -> None:
        self.pods: Ints = np.zeros(capacity, dtype=np.int64)
        self.amounts: dict[int, Ints] = {}  # by resource number

    def count(self, pod: Pod, row: int, change: int) -> None:
        """Count a pod that has come to a row (1) or left it (-1)."""
        self.pods[row] += change
        for number, amount in pod.requests.amounts:
            column = self.amounts.get(number)
            if column is None:
                column = self.amounts[number] = np.zeros(len(self.pods), dtype=np.int64)
            column[row] += change * amount

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self.pods = grown(self.pods, capacity)
        self.amounts = {number: grown(column, capacity) for number, column in self.amounts.items()}
