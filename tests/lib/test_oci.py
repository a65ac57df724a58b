"""Images made from files."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

from pybernetes.lib import oci


def read(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {entry.name: (file.read() if (file := tar.extractfile(entry)) else b"") for entry in tar}


def test_the_same_files_give_the_same_archive() -> None:
    files = {"bin/b": oci.File(b"b", 0o755), "bin/a": oci.File(link="b")}
    first = oci.archive("example.com/a:1", oci.layer(files), oci.Process(command=("a",)))
    again = oci.archive(
        "example.com/a:1", oci.layer(dict(reversed(files.items()))), oci.Process(command=("a",))
    )
    assert first == again


def test_the_index_leads_to_the_configuration() -> None:
    process = oci.Process(entrypoint=("/pause",), user="65535")
    content = read(oci.archive("example.com/pause:1", oci.layer({"pause": oci.File(b"x", 0o755)}), process))
    (manifest,) = json.loads(content["index.json"])["manifests"]
    assert manifest["annotations"]["io.containerd.image.name"] == "example.com/pause:1"
    described = json.loads(content[f"blobs/sha256/{manifest['digest'][7:]}"])
    config = json.loads(content[f"blobs/sha256/{described['config']['digest'][7:]}"])
    assert config["config"]["Entrypoint"] == ["/pause"] and config["config"]["User"] == "65535"
    assert f"blobs/sha256/{described['layers'][0]['digest'][7:]}" in content


def test_a_folder_becomes_a_layer(tmp_path: Path) -> None:
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "index.html").write_text("hello")
    (tmp_path / "www" / "link").symlink_to("index.html")
    content = read(oci.directory_layer(tmp_path))
    assert content["www/index.html"] == b"hello" and set(content) == {"www", "www/index.html", "www/link"}
