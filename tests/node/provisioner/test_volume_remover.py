"""Folders of volumes that go."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.node.provisioner import plan
from pybernetes.node.provisioner.folders import OwnFolders
from pybernetes.node.provisioner.volume_remover import VolumeRemover
from tests.lib.files.swapping import content


class Client:
    """Takes every write."""

    async def delete(self, *_: Any, **__: Any) -> None: ...

    async def patch(self, *_: Any, **__: Any) -> None: ...


async def remove(directory: Path, path: Path) -> None:
    volume = {
        "metadata": {"name": "v", "uid": "u", "annotations": {plan.PROVISIONED_BY: plan.NAME}},
        "spec": {"persistentVolumeReclaimPolicy": "Delete", "hostPath": {"path": str(path)}},
        "status": {"phase": "Released"},
    }
    fields: dict[str, Any] = {
        "objects": {"v": volume}, "client": Client(), "_directory": directory, "_folders": OwnFolders(),
    }  # fmt: skip
    view: Any = SimpleNamespace(**fields)
    await VolumeRemover.reconcile(view, "v")


async def test_what_containers_left_in_a_folder_leads_nowhere(tmp_path: Path) -> None:
    outside, directory = tmp_path / "outside", tmp_path / "volumes"
    outside.mkdir()
    (outside / "kept").touch()
    directory.mkdir()
    before = content(outside)
    path = directory / "pvc-1_n_c"
    await OwnFolders().make_volume(path)
    assert path.stat().st_mode & 0o777 == 0o777
    (path / "link").symlink_to(outside)
    (path / "d").mkdir()
    (path / "d/link").symlink_to("../../../outside")
    await remove(directory, path)
    assert not path.exists() and content(outside) == before
    path.symlink_to(outside)
    with pytest.raises(OSError):
        await OwnFolders().make_volume(path)
    await remove(directory, path)
    assert list(directory.iterdir()) == [] and content(outside) == before
    for elsewhere in (outside, directory / "pvc-1/../../outside", directory / "pvc-1/x"):
        await remove(directory, elsewhere)
    assert content(outside) == before
