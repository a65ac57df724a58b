"""Nonsense gets an error that a client can read, never a crash, and changes nothing that it was given."""

import copy
from typing import Any

from hypothesis import given

from pybernetes.api.errors import StatusError
from pybernetes.api.patch import merge_patch, strategic
from pybernetes.api.schema import DecodeError, Decoder
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


def decoded(value: Any, before: Any) -> tuple[Any, list[str]]:
    decoder = Decoder()
    try:
        if before is None:
            return decoder.decode(TYPE, value), decoder.unknown
        return decoder.decode_patched(TYPE, value, before), decoder.unknown
    except DecodeError as error:
        return str(error), []


@given(SHAPED | JSON)
def test_a_patched_object_is_decoded_as_a_whole_one_is(patch: Any) -> None:
    live = Decoder().decode(TYPE, LIVE)
    for apply in (merge_patch.apply, lambda live, patch: strategic.apply(live, patch, TYPE)):
        try:
            value = apply(live, patch)
        except StatusError:
            continue
        if isinstance(value, dict):
            assert decoded(value, live) == decoded(value, None)
