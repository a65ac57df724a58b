"""ServiceAccount tokens: fills the secrets that people make for a token of an account, and deletes those of accounts
that are gone.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.errors import Conflict, NotFound
from pybernetes.client.refs import SECRETS, SERVICE_ACCOUNTS
from pybernetes.control_plane.controllers._certificates import root_ca
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._tokens import service_account
from pybernetes.control_plane.controllers._tokens.service_account import (
    account_of,
    belongs,
    by_account,
    filled,
)
from pybernetes.lib.flags import Flag
from pybernetes.lib.tokens import jose
from pybernetes.runtime.cache import key_of, split_key
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime


class ServiceAccountTokenController(Controller):
    """Works on keys of secrets."""

    name = "serviceaccount-token-controller"
    kind = SECRETS
    selects = {SECRETS: service_account.SELECTION}
    indexes = {SECRETS: (by_account,)}

    def __init__(
        self, runtime: Runtime, key: jose.SigningKey, certificates: str = "", workers: int = 5
    ) -> None:
        self._references: dict[str, tuple[str, str]] = {}  # accounts of secrets that are gone
        super().__init__(runtime)
        self._key, self._certificates, self.workers = key, certificates, workers
        self.cache(SERVICE_ACCOUNTS).add_handler(self._account_changed)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        if new is None and old is not None:
            self._references[key_of(old)] = account_of(old)
        return True

    def _account_changed(self, old: Object | None, new: Object | None) -> None:
        if old is None or new is None:
            for key in self.cache(SECRETS).find_keys(by_account, key_of(new or old)):  # type: ignore[arg-type]
                self.enqueue(key)

    async def reconcile(self, key: str) -> None:
        """Fill a secret, or delete it if its account is gone."""
        secret = self.objects.get(key)
        gone = self._references.pop(key, None)
        if secret is None:
            if gone is not None:
                await self._drop_reference(key, *gone)
            return
        meta = secret["metadata"]
        name, _ = account_of(secret)
        if not name or "deletionTimestamp" in meta:
            return
        account = self.cache(SERVICE_ACCOUNTS).get(f"{meta['namespace']}/{name}")
        if not belongs(secret, account):
            account = await self._live(name, meta["namespace"])
        try:
            if account is None or not belongs(secret, account):
                await self.client.delete(SECRETS, meta["name"], meta["namespace"], uid=meta["uid"])
                return
            wanted = filled(secret, account, self._certificates, self._key)
            if wanted is not None:
                await self.client.update(SECRETS, wanted)
        except (NotFound, Conflict):  # whatever happened to it comes back as an event
            pass

    async def _live(self, name: str, namespace: str) -> Object | None:
        try:
            return await self.client.get(SERVICE_ACCOUNTS, name, namespace)
        except NotFound:
            return None

    async def _drop_reference(self, key: str, name: str, uid: str) -> None:
        """Remove a secret that is gone from the list of its account."""
        namespace, secret = split_key(key)
        account = self.cache(SERVICE_ACCOUNTS).get(f"{namespace}/{name}")
        if account is None or uid not in ("", account["metadata"]["uid"]):
            return
        listed = account.get("secrets") or []
        kept = [reference for reference in listed if reference.get("name") != secret]
        if len(kept) != len(listed):
            await self.client.update(SERVICE_ACCOUNTS, {**account, "secrets": kept})


def build(runtime: Runtime, options: Namespace) -> ServiceAccountTokenController | None:
    """Build the controller; return None without a key to sign with."""
    if not options.service_account_private_key_file:
        return None
    key = jose.read_private_key(Path(options.service_account_private_key_file))
    return ServiceAccountTokenController(
        runtime, key, root_ca.read(options), options.concurrent_serviceaccount_token_syncs
    )


CONTROLLER = Descriptor(
    name=ServiceAccountTokenController.name,
    aliases=("serviceaccount-token",),
    identity="",  # it serves the accounts that the others act as
    flags=(
        root_ca.ROOT_CA_FILE,
        Flag(
            "service-account-private-key-file",
            "",
            "key that signs tokens in secrets; without it there are none",
        ),
        Flag("concurrent-serviceaccount-token-syncs", 5, "how many secrets are worked on at a time"),
    ),
    build=build,
)
