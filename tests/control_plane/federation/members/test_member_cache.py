from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.control_plane.federation.members.member_cache import MemberCache
from pybernetes.runtime.informer import Informer


def obj(version: str, value: str) -> dict[str, Any]:
    return {
        "kind": "ConfigMap",
        "metadata": {"name": "x", "namespace": "n", "uid": "u", "resourceVersion": version},
        "data": {"k": value},
    }


async def test_a_write_is_seen_until_the_watch_has_come_to_it() -> None:
    informer = Informer(None, CONFIG_MAPS)  # type: ignore[arg-type]
    cache = MemberCache(informer)
    informer._replace({}, "5")
    assert cache.get("n/x") is None
    written = cache.wrote(obj("7", "new"))
    assert cache.get("n/x") == written and cache.keys() == ["n/x"]
    informer._apply([("ADDED", obj("6", "stale"))])
    assert cache.get("n/x") == written
    informer._apply([("MODIFIED", obj("8", "later"))])
    assert (cache.get("n/x") or {})["data"] == {"k": "later"}


async def test_a_member_that_goes_back_in_time_has_lost_what_was_written() -> None:
    informer = Informer(None, CONFIG_MAPS)  # type: ignore[arg-type]
    cache = MemberCache(informer)
    informer._replace({}, "5")
    cache.wrote(obj("7", "new"))
    informer._replace({}, "3")
    assert cache.get("n/x") is None


@pytest.mark.parametrize("version", ["", "²", "9" * 5000, "opaque"])
async def test_a_version_that_is_no_number_is_not_ahead_of_anything(version: str) -> None:
    informer = Informer(None, CONFIG_MAPS)  # type: ignore[arg-type]
    cache = MemberCache(informer)
    informer._replace({}, "5")
    assert cache.wrote(obj(version, "new"))["metadata"]["resourceVersion"] == version
    assert cache.get("n/x") is None and cache.keys() == []
