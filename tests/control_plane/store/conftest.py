"""Opens stores of every driver for the tests here."""

import contextlib
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pybernetes.control_plane.store.drivers.etcd.etcd_store import EtcdStore
from pybernetes.control_plane.store.open import open_store
from pybernetes.control_plane.store.protocol import Store
from tests.control_plane.store.etcd_server import Member, etcd

AnyStore = TypeVar("AnyStore", bound=Store)
Opener = Callable[..., AbstractAsyncContextManager[Store]]
prefixes = itertools.count(1)


@contextlib.asynccontextmanager
async def started(store: AnyStore) -> AsyncIterator[AnyStore]:
    """Yield a store that is started, and closed in the end."""
    await store.start()
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture(scope="session")
def etcd_member(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Member]:
    """Yield one etcd for all tests; each test has its own prefix in it."""
    with etcd(tmp_path_factory.mktemp("etcd")) as members:
        yield members[0]


@pytest.fixture
def root(driver: str) -> str:
    """Return what the keys of a test begin with."""
    return f"/registry{next(prefixes)}" if driver == "etcd" else "/registry"


@pytest.fixture
def opened(driver: str, root: str, tmp_path: Path, request: pytest.FixtureRequest) -> Opener:
    """Open a store of the driver; again and again on the same data where that is kept."""
    if driver == "etcd":
        member = request.getfixturevalue("etcd_member")
        return lambda **more: started(EtcdStore([member.address], prefix=root, **more))
    options: dict[str, Any] = {"data_dir": tmp_path / "data"} if driver == "sqlite" else {}
    return lambda **more: started(open_store(driver, **options, **more))
