"""Archives of images that are kept for nodes which come later."""

from __future__ import annotations

from pathlib import Path

from pybernetes.tools.local.nodes import kept_images
from pybernetes.tools.local.paths import Cluster


def test_what_is_kept_and_what_a_node_lacks(tmp_path: Path) -> None:
    cluster, archive = Cluster("c", tmp_path), tmp_path / "a.tar"
    cluster.create()
    archive.write_bytes(b"x")
    for names in (["a", "b"], ["a"], ["c"]):
        with kept_images.locked(cluster) as kept:
            kept.copy(archive)
            kept.keep(names)
    with kept_images.locked(cluster) as kept:
        assert kept.images == {"a": 2, "b": 1, "c": 3}
        assert [kept.newer_than(number) for number in (0, 1, 3)] == [[1, 2, 3], [2, 3], []]
        kept.forget("b")  # the last of its archive, the rest of which was replaced
        assert kept.newer_than(0) == [2, 3]
        kept.forget("nobody")
    assert sorted(path.name for path in cluster.images.glob("*.tar")) == ["2.tar", "3.tar"]
    with kept_images.locked(cluster) as kept:
        kept.copy(archive)  # and was not taken by any node
    with kept_images.locked(cluster) as kept:
        kept.copy(archive)
        assert kept.keep(["d"]) == 4
    assert (cluster.images / "4.tar").exists() and cluster.images.stat().st_mode & 0o777 == 0o700
