"""Pulling images: who waits for whom."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.images.image_access import ImageAccess
from pybernetes.node.kubelet.images.image_puller import ImageError, ImagePuller
from pybernetes.node.kubelet.images.pull_records import PullRecords
from tests.support import eventually


def access(folder: Path, policy: str = "NeverVerifyPreloadedImages", *allowlist: str) -> ImageAccess:
    return ImageAccess(PullRecords(folder / "image_manager"), policy, allowlist)


class Registries:
    """A runtime whose pulls from ``slow.example`` end when they are told to."""

    def __init__(self) -> None:
        self.present: set[str] = set()
        self.pulling: list[str] = []
        self.goes_on = asyncio.Event()

    async def image_status(self, image: str) -> Any:
        return SimpleNamespace(id=image, size=1) if image in self.present else None

    async def pull_image(self, image: str, auth: Any, sandbox: Any) -> None:
        self.pulling.append(image)
        if image.startswith("slow.example"):
            await self.goes_on.wait()
        self.present.add(image)


@pytest.mark.parametrize(("serialize", "parallel", "at_once"), [(True, 0, 1), (False, 2, 2), (False, 0, 3)])
async def test_a_registry_that_never_ends_holds_up_only_its_own_images(
    serialize: bool, parallel: int, at_once: int, tmp_path: Path
) -> None:
    runtime = Registries()
    cri: Any = runtime
    puller = ImagePuller(cri, ManualClock(), access(tmp_path), serialize=serialize, parallel=parallel)

    async def pull(image: str) -> Any:
        sandbox: Any = None
        return await puller.ensure("u", image, "IfNotPresent", [], sandbox, lambda *event: None)

    slow = [asyncio.create_task(pull(f"slow.example/image{number}")) for number in range(3)]
    await eventually(lambda: len(runtime.pulling) == at_once)
    assert (await pull("busybox")).id == "busybox"
    assert (await pull("other.example:5000/a/b:1")).size == 1
    assert len(runtime.pulling) == at_once + 2 and not any(task.done() for task in slow)
    slow[-1].cancel()
    runtime.goes_on.set()
    await asyncio.gather(*slow, return_exceptions=True)
    assert (await pull("slow.example/again")).id == "slow.example/again"
    assert not puller._slots, "nothing is kept of registries"


class PrivateRegistry:
    """A runtime with a registry that knows one password for each image of ``private.example``."""

    def __init__(self, *present: str) -> None:
        self.present = {image: "sha256:1" for image in present}
        self.pulls: list[str] = []

    async def image_status(self, image: str) -> Any:
        return SimpleNamespace(id=self.present[image], size=1) if image in self.present else None

    async def pull_image(self, image: str, auth: Any, sandbox: Any) -> None:
        self.pulls.append(image)
        if image.startswith("private.example") and (auth or {}).get("password") != "right":
            raise CriError("UNKNOWN", "pull access denied")
        self.present[image] = "sha256:1"


def secret(uid: str, password: str = "right") -> dict[str, Any]:
    text = json.dumps({"auths": {"private.example": {"username": "u", "password": password}}})
    data = {".dockerconfigjson": base64.b64encode(text.encode()).decode()}
    return {"metadata": {"uid": uid, "namespace": uid, "name": "s"}, "data": data}


IMAGE = "private.example/app:1"


async def outcome(puller: ImagePuller, policy: str, *secrets: dict[str, Any], image: str = IMAGE) -> str:
    sandbox: Any = None
    try:
        await puller.ensure("u", image, policy, list(secrets), sandbox, lambda *event: None)
    except ImageError as error:
        puller.forget("u")  # so that no back-off hides what comes next
        return error.reason
    return "used"


async def test_what_one_pods_secret_pulled_is_not_for_all_pods_of_the_node(tmp_path: Path) -> None:
    """A pod without a secret used a private image of another tenant that happened to be on its node."""
    runtime = PrivateRegistry()
    cri: Any = runtime
    puller = ImagePuller(cri, ManualClock(), access(tmp_path))
    assert await outcome(puller, "IfNotPresent", secret("tenant")) == "used"
    for again in (puller, ImagePuller(cri, ManualClock(), access(tmp_path))):  # and after a restart
        runtime.pulls.clear()
        assert await outcome(again, "IfNotPresent", secret("tenant")) == "used" and not runtime.pulls
        assert await outcome(again, "IfNotPresent") == "ErrImagePull"
        assert await outcome(again, "Never") == "ErrImageNeverPull"
        assert await outcome(again, "IfNotPresent", secret("other", "wrong")) == "ErrImagePull"
    runtime.pulls.clear()
    # Another secret with the same contents will do, and then this secret with other contents.
    assert await outcome(puller, "Never", secret("copy")) == "used" and not runtime.pulls
    assert await outcome(puller, "Never", secret("copy", "changed")) == "used" and not runtime.pulls


async def test_what_needs_no_secret_is_for_everybody(tmp_path: Path) -> None:
    runtime = PrivateRegistry()
    cri: Any = runtime
    puller = ImagePuller(cri, ManualClock(), access(tmp_path))
    assert await outcome(puller, "IfNotPresent", image="public.example/a") == "used"
    assert await outcome(puller, "Never", image="public.example/a") == "used"
    assert len(runtime.pulls) == 1
    # The same bytes under the name of a private image are another matter.
    runtime.present[IMAGE] = runtime.present["public.example/a"]
    assert await outcome(puller, "Never") == "ErrImageNeverPull"


@pytest.mark.parametrize(
    ("policy", "allowlist", "expected"),
    [
        ("NeverVerify", (), "used"), ("NeverVerifyPreloadedImages", (), "used"), ("AlwaysVerify", (), "ErrImageNeverPull"),
        ("NeverVerifyAllowlistedImages", (), "ErrImageNeverPull"),
        ("NeverVerifyAllowlistedImages", ("private.example/app",), "used"),
        ("NeverVerifyAllowlistedImages", ("private.example/*",), "used"),
        ("NeverVerifyAllowlistedImages", ("private.example/ap",), "ErrImageNeverPull"),
    ],
)  # fmt: skip
async def test_what_the_nodes_owner_put_there(
    tmp_path: Path, policy: str, allowlist: tuple[str, ...], expected: str
) -> None:
    cri: Any = PrivateRegistry(IMAGE)
    assert (
        await outcome(ImagePuller(cri, ManualClock(), access(tmp_path, policy, *allowlist)), "Never")
        == expected
    )


async def test_a_pull_that_was_cut_off_leaves_an_image_that_is_nobodys(tmp_path: Path) -> None:
    """The kubelet ended between the pull and its record: who may use the image, it cannot know any more."""
    PullRecords(tmp_path / "image_manager").begin(IMAGE)
    runtime = PrivateRegistry(IMAGE, "private.example/other-name")
    cri: Any = runtime
    puller = ImagePuller(cri, ManualClock(), access(tmp_path))
    assert await outcome(puller, "Never") == "ErrImageNeverPull"
    assert await outcome(puller, "Never", image="private.example/other-name") == "ErrImageNeverPull"
    assert await outcome(puller, "IfNotPresent", secret("tenant")) == "used"
    assert not list((tmp_path / "image_manager" / "pulling").iterdir())


async def test_a_record_that_cannot_be_read_opens_nothing(tmp_path: Path) -> None:
    runtime = PrivateRegistry()
    cri: Any = runtime
    assert (
        await outcome(ImagePuller(cri, ManualClock(), access(tmp_path)), "IfNotPresent", secret("t"))
        == "used"
    )
    (record,) = (tmp_path / "image_manager" / "pulled").iterdir()
    assert (
        json.loads(record.read_text())["kind"] == "ImagePulledRecord"
        and record.stat().st_mode & 0o777 == 0o600
    )
    assert "right" not in record.read_text()
    for broken in ("", "[]", "{", '{"imageRef": "sha256:2"}'):
        record.write_text(broken)
        assert (
            await outcome(ImagePuller(cri, ManualClock(), access(tmp_path)), "Never") == "ErrImageNeverPull"
        )


def test_records_of_images_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    records = PullRecords(tmp_path)
    for reference in ("a", "b"):
        records.pulled(IMAGE, reference, {"nodePodsAccessible": True})
    records.forget(["a"])
    assert records.references() == PullRecords(tmp_path).references() == {"b"}


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_clock_that_is_set_changes_no_delay(tmp_path: Path, hours: int) -> None:
    """Set back by an hour, a pod waited that hour longer for its image."""
    cri: Any = PrivateRegistry()
    clock, sandbox = ManualClock(), cast(Any, None)
    puller = ImagePuller(cri, clock, access(tmp_path))

    async def reason() -> tuple[str, float]:
        with pytest.raises(ImageError) as failed:
            await puller.ensure("u", IMAGE, "IfNotPresent", [], sandbox, lambda *event: None)
        return failed.value.reason, failed.value.retry

    assert (await reason())[0] == "ErrImagePull"
    clock.jump(hours * 3600)
    assert await reason() == ("ImagePullBackOff", 10.0)
    await clock.advance(10)
    assert (await reason())[0] == "ErrImagePull"


async def test_no_more_pulls_begin_than_a_registry_is_asked_for(tmp_path: Path) -> None:
    runtime, clock = PrivateRegistry(), ManualClock()
    cri: Any = runtime
    puller = ImagePuller(cri, clock, access(tmp_path), qps=1, burst=2)
    images = [f"public.example/{letter}" for letter in "abc"]
    assert [await outcome(puller, "IfNotPresent", image=image) for image in images] == [
        "used",
        "used",
        "ErrImagePull",
    ]
    assert len(runtime.pulls) == 2
    await clock.advance(1)
    assert await outcome(puller, "IfNotPresent", image=images[-1]) == "used"
