"""Slices for tests."""

from __future__ import annotations

from functools import partial

from tests.api import kinds

make = partial(kinds.make, "resource.k8s.io/v1", "ResourceSlice")
