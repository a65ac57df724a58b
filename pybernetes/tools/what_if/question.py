"""What a question is: the arguments that it takes, and how it is answered. Each is a file in ``questions/``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

from pybernetes.tools.what_if.answer import Answer
from pybernetes.tools.what_if.cluster import Cluster

Ask = Callable[[Cluster], Answer]


class Question(NamedTuple):
    """A question. ``prepare`` reads its arguments, so that what is wrong with them is told before a cluster is read.

    One that ``asks_descheduler`` finds in ``options.evictions`` what that would evict: keys of pods, and for whom.
    """

    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    prepare: Callable[[argparse.Namespace], Ask]
    asks_descheduler: bool = False
