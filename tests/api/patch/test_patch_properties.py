"""Nonsense gets an error that a client can read, never a crash, and changes nothing that it was given."""

import copy
from typing import Any

from hypothesis import given

from pybernetes.api.errors import StatusError
from pybernetes.api.patch import merge_patch, strategic
from tests.api.nonsense import JSON, LIVE, SHAPED, TYPE


@given(SHAPED | JSON)
def test_patches(patch: Any) -> None:
    before = copy.deepcopy((LIVE, patch))
    for apply in (merge_patch.apply, lambda live, patch: strategic.apply(live, patch, TYPE)):
        try:
            apply(LIVE, patch)
        except StatusError as error:
            assert error.code in (400, 422)
    assert (LIVE, patch) == before
