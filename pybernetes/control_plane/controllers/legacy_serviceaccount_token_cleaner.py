"""Legacy service account token cleaner: deletes automatically created token secrets that are not used."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.client.errors import Conflict, NotFound
from pybernetes.client.refs import CONFIG_MAPS, PODS, SECRETS, SERVICE_ACCOUNTS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._tokens import service_account
from pybernetes.control_plane.controllers._tokens.service_account import account_of, belongs
from pybernetes.lib import rfc3339
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

LAST_USED = "kubernetes.io/legacy-token-last-used"
INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since"
_TRACKING = "kube-apiserver-legacy-service-account-token-tracking"
_DAY = 86400.0
_ALL = "all tokens"


def day(moment: float) -> str:
    """Return a date in the format of the labels."""
    return datetime.datetime.fromtimestamp(moment, datetime.UTC).date().isoformat()


def _is_day(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def decide(secret: Object, account: Object | None, mounted: bool, now: float, period: float) -> str:
    """Decide about a token: ``keep``, ``mark`` it as invalid, or ``delete`` it."""
    meta = secret["metadata"]
    labels = meta.get("labels") or {}
    limit = day(now - period)
    if "deletionTimestamp" in meta or rfc3339.parse(meta["creationTimestamp"]) >= now - period:
        return "keep"
    if LAST_USED in labels and (not _is_day(labels[LAST_USED]) or labels[LAST_USED] >= limit):
        return "keep"
    listed = [reference.get("name") for reference in (account or {}).get("secrets") or ()]
    if account is None or not belongs(secret, account) or meta["name"] not in listed or mounted:
        return "keep"  # it was not made for the account, or is in use
    if not _is_day(labels.get(INVALID_SINCE, "")):
        return "mark"
    return "keep" if labels[INVALID_SINCE] >= limit else "delete"


def mounted_secrets(pods: Iterable[Object]) -> set[str]:
    """Return the secrets that pods use as volumes or in their environment."""
    names: set[str] = set()
    for pod in pods:
        spec = pod["spec"]
        for volume in spec.get("volumes") or ():
            names.add((volume.get("secret") or {}).get("secretName", ""))
            for source in (volume.get("projected") or {}).get("sources") or ():
                names.add((source.get("secret") or {}).get("name", ""))
        names |= {reference.get("name", "") for reference in spec.get("imagePullSecrets") or ()}
        for container in [*spec["containers"], *(spec.get("initContainers") or ())]:
            names |= {
                (source.get("secretRef") or {}).get("name", "") for source in container.get("envFrom") or ()
            }
            for variable in container.get("env") or ():
                reference = ((variable.get("valueFrom") or {}).get("secretKeyRef")) or {}
                names.add(reference.get("name", ""))
    return names - {""}


class LegacyTokenCleaner(Controller):
    """Looks at all tokens once a day: whether one was used is known by the day only."""

    name = "legacy-serviceaccount-token-cleaner-controller"
    workers = 1
    selects = {SECRETS: service_account.SELECTION}

    def __init__(self, runtime: Runtime, period: float = 365 * _DAY) -> None:
        super().__init__(runtime)
        if period <= 0:
            raise ValueError("--legacy-service-account-token-clean-up-period must be greater than 0")
        self._period = period
        for kind in (SECRETS, SERVICE_ACCOUNTS, PODS):
            self.cache(kind)

    async def prepare(self) -> None:
        self.enqueue(_ALL)

    async def reconcile(self, key: str) -> float:
        """Go over all tokens, once their use has been watched for long enough."""
        now = self.clock.now()
        if now >= await self._tracked_since() + self._period:
            for secret in self.cache(SECRETS).values():
                await self._treat(secret, now)
        return _DAY

    async def _tracked_since(self) -> float:
        try:
            config_map = await self.client.get(CONFIG_MAPS, _TRACKING, "kube-system")
        except NotFound:
            return float("inf")
        since = (config_map.get("data") or {}).get("since", "")
        return rfc3339.parse(since) + _DAY if _is_day(since) else float("inf")

    async def _treat(self, secret: Object, now: float) -> None:
        meta = secret["metadata"]
        namespace, name = meta["namespace"], meta["name"]
        account = self.cache(SERVICE_ACCOUNTS).get(f"{namespace}/{account_of(secret)[0]}")
        mounted = name in mounted_secrets(self.cache(PODS).in_namespace(namespace))
        action = decide(secret, account, mounted, now, self._period)
        try:
            if action == "mark":
                patch = {"metadata": {"uid": meta["uid"], "labels": {INVALID_SINCE: day(now)}}}
                await self.client.patch(SECRETS, name, patch, namespace)
            elif action == "delete":
                await self.client.delete(
                    SECRETS, name, namespace, uid=meta["uid"], resource_version=meta["resourceVersion"]
                )
        except (NotFound, Conflict):
            pass


CONTROLLER = Descriptor(
    name=LegacyTokenCleaner.name,
    aliases=("legacy-service-account-token-cleaner",),
    identity="legacy-service-account-token-cleaner",
    flags=(
        Flag(
            "legacy-service-account-token-clean-up-period",
            Seconds(365 * _DAY),
            "how long a token that was made for an account is kept without being used",
        ),
    ),
    build=lambda runtime, options: LegacyTokenCleaner(
        runtime, options.legacy_service_account_token_clean_up_period
    ),
)
