"""Ranges of users for pods with a user namespace of their own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cri_api.v1 import api_pb2 as messages

from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.pod import user_namespaces
from pybernetes.node.kubelet.pod.user_namespaces import UNIT, UserNamespaces


def _first(users: UserNamespaces, folder: Path, uid: str) -> int:
    (folder / uid).mkdir(exist_ok=True)
    made = users.of(uid)
    assert made.mode == messages.POD and list(made.uids) == list(made.gids)
    (mapping,) = made.uids
    assert mapping.container_id == 0 and mapping.length % UNIT == 0
    return mapping.host_id


def test_each_pod_has_a_range_of_its_own_also_after_a_restart(tmp_path: Path) -> None:
    users = UserNamespaces(tmp_path)
    assert [_first(users, tmp_path, uid) for uid in ("a", "b", "a", "c")] == [UNIT, 2 * UNIT, UNIT, 3 * UNIT]
    stored = json.loads((tmp_path / "a" / "userns").read_text())
    mapping = [{"hostId": UNIT, "containerId": 0, "length": UNIT}]
    assert stored == {"uidMappings": mapping, "gidMappings": mapping}
    restarted = UserNamespaces(tmp_path)
    assert [_first(restarted, tmp_path, uid) for uid in ("d", "c", "b")] == [4 * UNIT, 3 * UNIT, 2 * UNIT]


def test_the_range_of_a_pod_that_is_gone_is_given_out_again(tmp_path: Path) -> None:
    users = UserNamespaces(tmp_path)
    for uid in ("a", "b"):
        _first(users, tmp_path, uid)
    shutil.rmtree(tmp_path / "a")
    assert _first(users, tmp_path, "c") == UNIT


def test_larger_ranges_never_begin_with_the_users_of_the_node(tmp_path: Path) -> None:
    assert _first(UserNamespaces(tmp_path, 2 * UNIT), tmp_path, "a") == 2 * UNIT


def test_no_range_is_given_out_twice_when_all_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_namespaces, "_ALL", 3 * UNIT)
    users = UserNamespaces(tmp_path)
    for uid in ("a", "b"):
        _first(users, tmp_path, uid)
    with pytest.raises(ConfigError, match="could not find an empty slot"):
        _first(users, tmp_path, "c")


@pytest.mark.parametrize(
    "changed",
    [{"hostId": 0}, {"hostId": UNIT + 1}, {"containerId": 1}, {"length": 2 * UNIT}, {"hostId": 2**32}, {"hostId": "x"}],
)  # fmt: skip
def test_a_file_that_we_would_not_write_is_refused(tmp_path: Path, changed: dict[str, object]) -> None:
    (tmp_path / "a").mkdir()
    mapping = [{"hostId": UNIT, "containerId": 0, "length": UNIT, **changed}]
    (tmp_path / "a" / "userns").write_text(json.dumps({"uidMappings": mapping, "gidMappings": mapping}))
    with pytest.raises(ConfigError, match="user namespace"):
        UserNamespaces(tmp_path)


def test_two_pods_that_claim_one_range_are_refused(tmp_path: Path) -> None:
    mapping = [{"hostId": UNIT, "containerId": 0, "length": UNIT}]
    for uid in ("a", "b"):
        (tmp_path / uid).mkdir()
        (tmp_path / uid / "userns").write_text(json.dumps({"uidMappings": mapping, "gidMappings": mapping}))
    with pytest.raises(ConfigError, match='range picked for pod "b" already taken'):
        UserNamespaces(tmp_path)
