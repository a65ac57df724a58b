"""Calls of a cloud: each within a time, and each counted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable
from typing import TypeVar

from pybernetes.control_plane.cloud.provider import CloudError, CloudTimeout, InstanceNotFound
from pybernetes.lib.metrics.exposition import Exposition

Result = TypeVar("Result")
SECONDS = 60.0  # a cloud that takes longer for one call has failed
_CALLS = "cloud_node_lifecycle_controller_cloud_provider_calls_total"


class CloudCalls:
    """Asks a cloud. Whatever goes wrong there is a ``CloudError`` here: nobody draws conclusions from it."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self.counts: Counter[tuple[str, str]] = Counter()

    async def ask(self, operation: str, call: Awaitable[Result]) -> Result:
        """Await a call of the cloud for at most so long."""
        result = "error"
        try:
            async with asyncio.timeout(self._seconds):
                answer = await call
            result = "success"
            return answer
        except InstanceNotFound:
            result = "instance_not_found"
            raise
        except CloudError:
            raise
        except TimeoutError:
            raise CloudTimeout(f"the cloud did not answer {operation} within {self._seconds:g} s") from None
        except asyncio.CancelledError:
            result = "canceled"
            raise
        except Exception as error:  # a provider is somebody else's code
            raise CloudError(f"{type(error).__name__}: {error}") from error
        finally:
            self.counts[operation, result] += 1

    def write(self, text: Exposition) -> None:
        """Write the counts."""
        text.family(
            _CALLS,
            "counter",
            "The total number of cloud provider API calls, labeled by operation and result.",
        )
        for (operation, result), count in sorted(self.counts.items()):
            text.sample(_CALLS, (("operation", operation), ("result", result)), count)
