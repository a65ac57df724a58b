"""The files of the installation that runs: Python with its library, the packages, and Pybernetes itself."""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pybernetes
from pybernetes.api.schema import load as schema
from pybernetes.lib.oci import File
from pybernetes.tools.image import shared_libraries
from pybernetes.tools.image.errors import ImageError
from pybernetes.tools.image.sources import Sources

PYTHON = f"usr/local/bin/python{sys.version_info.major}.{sys.version_info.minor}"
LIBRARY = f"usr/local/lib/python{sys.version_info.major}.{sys.version_info.minor}"
PACKAGES = "usr/local/lib/pybernetes"
CACHE = "var/cache"
# Programs that have a command of their own in the image.
COMPONENTS = (
    "cloud-controller-manager", "cluster-autoscaler", "coredns", "descheduler", "kube-apiserver", "kube-controller-manager",
    "kube-dns", "kube-proxy", "kube-scheduler", "kubeadm", "kubectl", "kubelet", "metrics-adapter", "metrics-server",
    "pod-network", "storage-provisioner",
)  # fmt: skip
# What the components call on a node.
_PROGRAMS = {
    "iptables": "iptables", "iptables-save": "iptables", "iptables-restore": "iptables", "ip6tables": "iptables",
    "ip6tables-save": "iptables", "ip6tables-restore": "iptables", "nft": "nftables", "conntrack": "conntrack",
    "ip": "iproute2", "sh": "dash",
}  # fmt: skip
_NO_MODULES = frozenset(
    ("__pycache__", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3", "pydoc_data",
     "site-packages", "dist-packages", "include")
)  # fmt: skip
_FOR_COMPILERS = (".pyc", ".pyi", ".pyx", ".pxd", ".a", ".h", ".c")
_LAUNCHER = f"""\
#!/{PYTHON} -IS
import sys

sys.path.insert(0, "/{PACKAGES}")
from pybernetes.cmd.main import main

sys.exit(main())
"""


def python() -> Sources:
    """Return the files of Python, of the packages and of the programs that components call."""
    executable = Path(sys.executable).resolve()
    library = Path(sysconfig.get_path("stdlib"))
    own = {f"{LIBRARY}/{path.relative_to(library)}": path for path in _modules(library)}
    packages = dict(_packages())
    programs = {
        f"usr/sbin/{name}": shared_libraries.program(name, package) for name, package in _PROGRAMS.items()
    }
    programs["usr/bin/sh"] = programs.pop("usr/sbin/sh")
    plugins = {shared_libraries.merged(str(path)): path for path in _packet_filter_plugins()}
    binaries = [
        path
        for path in (*own.values(), *packages.values(), *plugins.values())
        if ".so" in path.name and shared_libraries.is_binary(path)
    ]
    site = Path(sysconfig.get_path("platlib")).resolve()
    loaded = shared_libraries.needed((executable, *binaries, *programs.values()), site)
    users = File(
        b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    )
    return {
        **shared_libraries.MERGED,
        **own,
        **packages,
        **programs,
        **plugins,
        **loaded,
        PYTHON: executable,
        "etc/passwd": users,
        "etc/group": File(b"root:x:0:\nnogroup:x:65534:\n"),
        "etc/nsswitch.conf": File(b"hosts: files dns\n"),
        **_authorities(),
    }


def ourselves() -> Sources:
    """Return the files of Pybernetes, with a link for every component."""
    root = Path(pybernetes.__file__).parent
    modules = {f"{PACKAGES}/pybernetes/{path.relative_to(root)}": path for path in _modules(root)}
    links = {f"usr/local/bin/{name}": File(link="pyb", mode=0o777) for name in COMPONENTS}
    links["coredns"] = File(link="usr/local/bin/coredns", mode=0o777)  # where upstream's image has it
    return {**modules, **links, "usr/local/bin/pyb": File(_LAUNCHER.encode(), 0o755)}


def _modules(root: Path) -> Iterator[Path]:
    """Yield the files of a folder that are needed when its modules run."""
    for path in sorted(root.iterdir()):
        if path.is_dir():
            if path.name not in _NO_MODULES and not path.name.startswith("config-"):
                yield from _modules(path)
        elif path.is_file() and not path.name.endswith(_FOR_COMPILERS) and not path.name.startswith("."):
            yield path


def _packages() -> Iterator[tuple[str, Path]]:
    """Yield the files of all packages that Pybernetes depends on, by their paths in the image."""
    schemas = schema.source()
    for distribution in distributions("pybernetes").values():
        for file in distribution.files or ():
            path = Path(str(file.locate()))
            if ".." in file.parts or file.suffix in (".pth", *_FOR_COMPILERS) or not path.is_file():
                continue
            if "kubernetes-json-schema" in file.parts and path != schemas:
                continue  # of other versions, which is most of the package
            if not _NO_MODULES & set(file.parts[:-1]) and file.parts[0] != "pybernetes":
                yield f"{PACKAGES}/{file}", path


def distributions(name: str) -> dict[str, metadata.Distribution]:
    """Return a package with all that it needs, extras aside; ImageError if it is not installed."""
    result: dict[str, metadata.Distribution] = {}
    waiting = [name]
    while waiting:
        wanted = waiting.pop()
        key = re.sub(r"[-_.]+", "-", wanted).lower()
        if key in result:
            continue
        try:
            result[key] = metadata.distribution(wanted)
        except metadata.PackageNotFoundError:
            if wanted == name:
                raise ImageError(f"the package {name} is not installed in {sys.prefix}") from None
            continue  # for another system or another version of Python
        for requirement in result[key].requires or ():
            needed_package, _, marker = requirement.partition(";")
            if "extra" not in marker:
                waiting.append(re.split(r"[^A-Za-z0-9._-]", needed_package.strip(), maxsplit=1)[0])
    return dict(sorted(result.items()))


def _packet_filter_plugins() -> list[Path]:
    """Return the plugins of iptables, which it loads by name."""
    return sorted(Path("/usr/lib").glob("*/xtables/*.so"))


def _authorities() -> dict[str, Path]:
    """Return the file with the authorities that this machine trusts, if it has one."""
    bundle = Path("/etc/ssl/certs/ca-certificates.crt")
    return {"etc/ssl/certs/ca-certificates.crt": bundle} if bundle.is_file() else {}
