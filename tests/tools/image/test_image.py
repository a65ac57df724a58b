"""Images of the installation that runs."""

from __future__ import annotations

import gzip
import io
import marshal
import subprocess
import tarfile
from pathlib import Path

import pytest

from pybernetes.lib.oci import File
from pybernetes.tools.image import (
    bytecode,
    catalog,
    installation,
    layers,
    names,
    registry,
    shared_libraries,
    sources,
)
from pybernetes.tools.image.errors import ImageError
from tests.support import require_program

LISTING = """\
/usr/bin/python3:
\tlinux-vdso.so.1 (0x00007f64c21d8000)
\tlibpython3.11.so.1.0 => /opt/python/lib/libpython3.11.so.1.0 (0x00007fb9e7200000)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f64c1fe5000)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f64c21da000)
/usr/bin/static:
\tnot a dynamic executable
"""


def test_what_a_program_loads() -> None:
    paths = shared_libraries.libraries(LISTING)
    assert {shared_libraries.in_image(name, path) for name, path in paths.items()} == {
        "usr/lib/libpython3.11.so.1.0",  # no loader looks into /opt
        "usr/lib/x86_64-linux-gnu/libc.so.6",
        "usr/lib64/ld-linux-x86-64.so.2",
    }


def test_a_library_that_is_missing_is_named() -> None:
    with pytest.raises(ImageError, match=r"libgone\.so\.1 is not installed"):
        shared_libraries.libraries("\tlibgone.so.1 => not found\n")


def test_compiled_modules_are_found_and_depend_on_their_source_alone() -> None:
    source = b"NAMES = {'b', 'a'}\ndef f(x):\n    return x in {'one', 'two', 'three'}\n"
    first = bytecode.compiled(source, "/x.py")
    unrelated = [f"name{number}" for number in range(100)]
    assert first == bytecode.compiled(source, "/x.py") and unrelated
    assert first is not None and marshal.loads(first[16:]).co_filename == "/x.py"
    assert bytecode.path("a/b.py").startswith("a/__pycache__/b.cpython-")
    assert bytecode.compiled(b"print 'python 2'", "/y.py") is None


def test_layers_are_kept_and_made_again_when_broken(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("x = 1\n")
    wanted: sources.Sources = {"lib/module.py": module, "etc/name": File(b"n")}
    made = layers.layer(wanted, tmp_path / "kept")
    (kept,) = (tmp_path / "kept").iterdir()
    assert layers.layer(wanted, tmp_path / "kept") == made
    kept.write_bytes(kept.read_bytes()[:-1] + b"?")
    assert layers.layer(wanted, tmp_path / "kept") == made
    module.write_text("x = 22\n")
    assert layers.layer(wanted, tmp_path / "kept") != made


def test_the_installation_has_what_components_need() -> None:
    ours = installation.ourselves()
    assert "usr/local/lib/pybernetes/pybernetes/cmd/kube_apiserver.py" in ours
    link = ours["usr/local/bin/kube-apiserver"]
    assert isinstance(link, File) and link.link == "pyb"
    packages = installation.distributions("pybernetes")
    assert {"orjson", "grpcio", "cryptography"} <= set(packages) and "pytest" not in packages


def test_the_pause_program_tells_its_version(tmp_path: Path) -> None:
    for name in ("catatonit", "ldd"):
        require_program(name)
    (image,) = catalog.pause()
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(image.layers[0].packed))) as archive:
        archive.extractall(tmp_path, filter="data")
        names_there = archive.getnames()
    assert {"usr/bin/catatonit", "usr/bin/sh", "pause"} <= set(names_there)
    done = subprocess.run(["sh", tmp_path / "pause", "-v"], capture_output=True, text=True, check=True)
    assert done.stdout == "pause 3.10.2\n"
    assert image.process.entrypoint == ("/pause",) and not image.process.command


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("registry.k8s.io/kube-proxy:v1.37.0", ("registry.k8s.io", "kube-proxy", "v1.37.0")),
        ("127.0.0.1:5000/a/b:1", ("127.0.0.1:5000", "a/b", "1")),
    ],
)
def test_names_of_images(name: str, parts: tuple[str, str, str]) -> None:
    where = registry.target(name)
    assert (where.host, where.path, where.tag) == parts


def test_names_without_a_registry_cannot_be_pushed() -> None:
    with pytest.raises(ImageError, match="does not name a registry"):
        registry.target("busybox")


def test_names_as_upstream_has_them() -> None:
    assert names.dns() == "registry.k8s.io/coredns/coredns:v1.14.6"
    assert names.dns("example.com/k8s") == "example.com/k8s/coredns:v1.14.6"
    assert names.component("kube-apiserver", "v1.37.0+abc") == "registry.k8s.io/kube-apiserver:v1.37.0_abc"
