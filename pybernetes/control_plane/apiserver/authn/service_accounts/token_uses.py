"""Counts the tokens of service accounts that were used: those in secrets, and those that kubelets ask for."""

from __future__ import annotations

from pybernetes.lib.metrics.counts import Counters
from pybernetes.lib.metrics.exposition import Exposition

# A token that kubelets ask for by default is looked at again, and so counted again, after as many seconds.
SECONDS = 10.0


class TokenUses:
    """The three counters. A token that is remembered is not counted again while it is."""

    def __init__(self) -> None:
        self._legacy = Counters("serviceaccount_legacy_tokens_total", "Legacy service account tokens used.")
        self._stale = Counters(
            "serviceaccount_stale_tokens_total", "Stale projected service account tokens used."
        )
        self._valid = Counters(
            "serviceaccount_valid_tokens_total", "Valid projected service account tokens used."
        )

    def legacy(self) -> None:
        """Count a token that is for no audience in particular."""
        self._legacy.add()

    def projected(self, warn_after: float, now: float) -> float:
        """Count a token that should be renewed after a moment; return until when its use need not be counted again."""
        stale = now > warn_after
        (self._stale if stale else self._valid).add()
        return now + SECONDS if stale else min(now + SECONDS, warn_after)

    def render(self, out: Exposition) -> None:
        """Write the counters."""
        for counters in (self._legacy, self._stale, self._valid):
            counters.write(out)
