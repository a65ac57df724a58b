"""rebalance: what would the descheduler move?"""

from __future__ import annotations

import argparse

from pybernetes.tools.what_if.cluster import QuestionError
from pybernetes.tools.what_if.question import Ask, Question


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this question."""


def prepare(options: argparse.Namespace) -> Ask:
    """Refuse: there is no descheduler to ask yet."""
    raise QuestionError("rebalance: there is no descheduler yet whose policy could be asked")


QUESTION = Question(
    "what the descheduler would move, and the balance before and after", add_arguments, prepare
)
