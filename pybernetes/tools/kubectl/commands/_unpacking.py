"""Archives of containers, unpacked here: whoever packed them is not trusted, neither with paths nor with sizes."""

from __future__ import annotations

import errno
import os
import shutil
import tarfile

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    Warn = Callable[[str], None]

_CORRUPTED = "tar contents corrupted"
# Entries that describe the next one, which is read as a whole.
_DESCRIBING = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME,
               tarfile.GNUTYPE_LONGLINK)  # fmt: skip
_MOST_DESCRIBED = 1 << 20
_DEEPEST = 256  # and many programs could not even remove it again


class _Entry(tarfile.TarInfo):
    """An entry whose sizes make sense."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Entry:
        """Return the entry of a header."""
        entry = super().frombuf(buf, encoding, errors)
        if entry.size < 0 or (entry.type in _DESCRIBING and entry.size > _MOST_DESCRIBED):
            raise tarfile.ReadError(_CORRUPTED)
        if entry.type == tarfile.GNUTYPE_SPARSE:  # of any size on the disk, for nothing
            raise tarfile.ReadError(_CORRUPTED)
        return entry


def unpack(archive: BinaryIO, prefix: str, path: str, warn: Warn, hint: str = "") -> None:
    """Unpack what is below a prefix to a path and nowhere else, as it comes; ``hint`` is what would copy links."""
    hints = [f' (consider using "{hint} | tar xf -")'] if hint else []

    def skip(text: str) -> None:
        warn(text + (hints.pop() if hints else ""))

    try:
        with tarfile.open(fileobj=archive, mode="r|", tarinfo=_Entry) as tar:
            for member in tar:
                _extract(tar, member, prefix, path, warn, skip)
                tar.members = []  # type: ignore[attr-defined]  # there may be any number of them
    except (tarfile.TarError, ValueError, OverflowError):
        raise CommandError(_CORRUPTED) from None
    except OSError as error:
        raise _refused("open", error) from None


def _refused(action: str, error: OSError) -> CommandError:
    return CommandError(f"{action} {error.filename}: {(error.strerror or str(error)).lower()}")


def _make_folders(path: str) -> None:
    """Make a folder and those above it; what is there and is none is an error that names it."""
    if path in ("", "/", ".") or os.path.isdir(path):
        return
    try:
        if os.path.exists(path):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        _make_folders(os.path.dirname(path))
        os.mkdir(path, 0o755)
    except OSError as error:
        raise _refused("mkdir", error) from None


def target_of(name: str, prefix: str, path: str) -> str | None:
    """Return where an entry goes, None if that is outside of the path; CommandError if it is not below the prefix."""
    name = name.lstrip("/")
    everything = prefix in ("", ".")
    if name.count("/") > _DEEPEST:
        raise CommandError(_CORRUPTED)
    if not everything and name != prefix and not name.startswith(f"{prefix}/"):
        raise CommandError(_CORRUPTED)
    relative = name if everything else name[len(prefix) :].lstrip("/")
    target = os.path.normpath(os.path.join(path, relative)) if relative else path
    root, whole = os.path.abspath(path), os.path.abspath(target)
    return target if whole == root or whole.startswith(root.rstrip("/") + "/") else None


def _extract(
    tar: tarfile.TarFile,
    member: tarfile.TarInfo,
    prefix: str,
    path: str,
    warn: Warn,
    skip: Warn,
) -> None:
    target = target_of(member.name, prefix, path)
    if target is None:
        shown = os.path.normpath(os.path.join(path, member.name))
        warn(f"warning: file {quoted(shown)} is outside target destination, skipping")
        return
    _make_folders(os.path.dirname(target))
    if member.isdir():
        _make_folders(target)
        return
    if member.issym() or member.islnk():
        # Through a link of the archive the next entry would leave the path.
        skip(f"warning: skipping symlink: {quoted(target)} -> {quoted(member.linkname)}")
        return
    if member.issparse():  # of any size on the disk, for nothing
        warn(f"warning: skipping sparse file: {quoted(target)}")
        return
    content = tar.extractfile(member)
    if content is None:
        return
    with open(target, "wb") as file:
        shutil.copyfileobj(content, file, 1 << 18)
