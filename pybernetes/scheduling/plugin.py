"""What a scheduler plugin is: it works on whole columns of nodes at a time.

A filter or score plugin gives a key for each pod: None if it has nothing to say about the pod; pods of equal keys get
equal answers. Its scope says when an answer must be worked out again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Hashable, Iterable
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.scheduling.cluster_events import Interest
from pybernetes.scheduling.columns import Ints, Rows
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.snapshot import Below

if TYPE_CHECKING:
    from pybernetes.scheduling.cycle import Cycle
    from pybernetes.scheduling.diagnosis import Diagnosis
    from pybernetes.scheduling.handle import Handle

MAX_SCORE = 100
# Where plugins have a say, in order, and the method that a plugin has there.
POINTS = {
    "preEnqueue": "pre_enqueue",
    "queueSort": "sort_key",
    "preFilter": "pre_filter",
    "filter": "filter",
    "postFilter": "post_filter",
    "preScore": "pre_score",
    "score": "score",
    "reserve": "reserve",
    "permit": "permit",
    "preBind": "pre_bind",
    "bind": "bind",
    "postBind": "post_bind",
}


class Scope(IntEnum):
    """What the answer for a node depends on."""

    NODE_LABELS = 0  # the node's labels, taints, images
    NODE = 1  # also the pods on it and the amounts that it offers
    CLUSTER = 2  # also the pods on other nodes


class Rejection(NamedTuple):
    """Why a plugin turned a pod away, whatever the nodes look like."""

    plugin: str
    message: str


class Extra(NamedTuple):
    """What nominated pods will take, which are not on their nodes yet: columns for some rows."""

    pods: Ints
    amounts: dict[int, Ints]  # by resource number


class Outcome(NamedTuple):
    """What came of an attempt to make room: a node and victims, or neither, and a message for people.

    ``nominated`` is the node to nominate the pod for; empty for none, None to leave that as it is.
    """

    nominated: str | None
    victims: tuple[Pod, ...]
    message: str
    violations: int = 0


class BindingError(Exception):
    """A pod cannot be bound now; it is tried again later."""


class Plugin:
    """A plugin. It has the points that ``points`` names, as upstream's of the same name.

    For each point that it does something at it has the point's method; the classes below say which that is.
    """

    name: ClassVar[str]
    points: ClassVar[tuple[str, ...]] = ()

    def __init__(self, handle: Handle, arguments: Object) -> None:
        self.handle = handle
        self.snapshot = handle.snapshot
        self.listers = handle.listers
        self.arguments = arguments

    @classmethod
    def default_arguments(cls, given: Object) -> Object:
        """Return the arguments with upstream's defaults."""
        return given

    @classmethod
    def check_arguments(cls, arguments: Object, path: Path, errors: Errors) -> None:
        """Collect what is wrong with arguments as they were given, in upstream's words."""

    def interests(self) -> Iterable[Interest]:
        """Return the events that may make a pod fit which this plugin has turned away."""
        return ()


class QueueSortPlugin(Plugin):
    """Says which of the waiting pods comes first."""

    def sort_key(self, pod: Pod, since: float) -> tuple[Any, ...]:
        """Return the sort key of a pod that has waited since a moment; the smallest comes first."""
        raise NotImplementedError


class PreFilterPlugin(Plugin):
    """Looks at a pod alone, before any node."""

    def pre_filter(self, pod: Pod) -> Rejection | frozenset[str] | None:
        """Return why no node will do, or the names of the only nodes that can, or None for any node."""
        raise NotImplementedError


class FilterPlugin(Plugin):
    """Says which nodes a pod can be on."""

    filter_scope: ClassVar[Scope] = Scope.NODE_LABELS
    # Whether nothing of the pods on a node matters to it but their number and the amounts that they take.
    counts_amounts_only: ClassVar[bool] = False

    def filter_key(self, pod: Pod) -> Hashable | None:
        """Return what ``filter`` depends on besides the nodes; None if this plugin does not care about the pod."""
        raise NotImplementedError

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        """Return for each row 0 if the pod can be there, or the code of a reason.

        A negative number stands for what no eviction of other pods would change.
        """
        raise NotImplementedError

    def filter_row(self, pod: Pod, row: int) -> int:
        """Do ``filter`` for one row, for plugins that are faster with plain numbers than with columns of one."""
        return int(self.filter(pod, slice(row, row + 1))[0])

    def filter_beside(self, pod: Pod, rows: Ints, extra: Extra) -> Ints | None:
        """Do ``filter`` with some more pods on each row, which take amounts and nothing else.

        None: these do not change the answer.
        """
        return None

    def filter_without(self, pod: Pod, rows: Ints, below: Below, extra: Extra | None) -> Ints:
        """Do ``filter`` as if all pods below a priority were gone; only if ``counts_amounts_only``."""
        raise NotImplementedError

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        """Return the reasons that a code stands for, in words."""
        raise NotImplementedError


class PostFilterPlugin(Plugin):
    """Makes room for a pod that fits nowhere."""

    def post_filter(self, pod: Pod, diagnosis: Diagnosis, cycle: Cycle) -> Outcome | None:
        """Return what came of it; None leaves it to the next plugin."""
        raise NotImplementedError


class ScorePlugin(Plugin):
    """Says which of the feasible nodes are better. With scope CLUSTER it is given only those."""

    score_scope: ClassVar[Scope] = Scope.NODE_LABELS
    normalizes: ClassVar[bool] = False

    def score_key(self, pod: Pod) -> Hashable | None:
        """Return what ``score`` depends on besides the nodes; None if this plugin does not care about the pod."""
        raise NotImplementedError

    def score(self, pod: Pod, rows: Rows) -> Ints:
        """Return a number for each row, from 0 to 100 unless the plugin normalizes."""
        raise NotImplementedError

    def score_row(self, pod: Pod, row: int) -> int:
        """Do ``score`` for one row, for plugins that are faster with plain numbers than with columns of one."""
        return int(self.score(pod, slice(row, row + 1))[0])

    def normalize(self, pod: Pod, scores: Ints, rows: Ints) -> Ints:
        """Turn the scores of the feasible nodes into numbers from 0 to 100."""
        return scores


class ReservePlugin(Plugin):
    """Takes what a pod needs besides its node. From here on a pod has its node in ``pod.node``."""

    def reserve(self, pod: Pod) -> Rejection | None:
        """Reserve what the pod needs, or return why that is impossible."""
        raise NotImplementedError

    def unreserve(self, pod: Pod) -> None:
        """Undo a reservation, if there is one: the pod was not bound."""
        raise NotImplementedError


class PermitPlugin(Plugin):
    """Lets a pod be bound, refuses it, or has it wait."""

    def permit(self, pod: Pod) -> Rejection | Awaitable[Rejection | None] | None:
        """Return None to permit, why not, or something to wait for that gives either."""
        raise NotImplementedError


class PreBindPlugin(Plugin):
    """Prepares what must be there before a pod is bound."""

    def pre_bind(self, pod: Pod) -> Awaitable[None] | None:
        """Return the work to be done first, which may raise BindingError; None if there is none."""
        raise NotImplementedError


class BindPlugin(Plugin):
    """Writes the decision down."""

    def bind(self, pod: Pod) -> Awaitable[object] | None:
        """Return the binding under way, which may raise BindingError; None leaves it to the next plugin."""
        raise NotImplementedError


class PostBindPlugin(Plugin):
    """Hears of pods that were bound."""

    def post_bind(self, pod: Pod) -> None:
        """Take note that a pod was bound."""
        raise NotImplementedError


def normalized(scores: Ints, reverse: bool) -> Ints:
    """Return scores as percentages of the best; in reverse, 100 less that."""
    best = int(scores.max(initial=0))
    if best == 0:
        return np.full_like(scores, MAX_SCORE if reverse else 0)
    shares = scores * MAX_SCORE // best
    return MAX_SCORE - shares if reverse else shares
