"""Nonsense gets an error that a client can read, never a crash, and changes nothing that it was given."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.apply import apply as ssa
from pybernetes.api.apply import managed_fields
from pybernetes.api.errors import StatusError
from tests.api.nonsense import JSON, LIVE, SHAPED, TYPE


@given(SHAPED, st.booleans(), st.booleans())
def test_apply(config: Any, force: bool, creates: bool) -> None:
    before = copy.deepcopy((LIVE, config))
    try:
        ssa.apply(
            None if creates else LIVE, {"apiVersion": "apps/v1", "kind": "Deployment", **config}, TYPE,
            kind="Deployment", api_version="apps/v1", manager="kubectl", force=force, now="t",
        )  # fmt: skip
    except StatusError as error:
        assert error.code in (400, 409)
    assert (LIVE, config) == before


@given(JSON)
def test_entries_that_clients_send(entries: Any) -> None:
    new = {**LIVE, "metadata": {**LIVE["metadata"], "managedFields": entries}}
    if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
        managed_fields.update(LIVE, new, TYPE, manager="m", api_version="apps/v1", now="t")
