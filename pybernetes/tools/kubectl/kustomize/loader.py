"""Reads the files of a kustomization: those in its folder or below, within bounds, and from elsewhere by git or HTTP."""

from __future__ import annotations

import os
import stat

from pybernetes.tools.kubectl.kustomize.errors import BuildError, TooLarge
from pybernetes.tools.kubectl.kustomize.remote import Repository, repository

MAX_FILE_BYTES = 64 << 20
MAX_TOTAL_BYTES = 512 << 20
MAX_LOADS = 20_000
MAX_FOLDERS = 2_000  # that are built, each as often as another one refers to it
ROOT_ONLY, ANYWHERE = "LoadRestrictionsRootOnly", "LoadRestrictionsNone"


class Budget:
    """What a build has read so far, in all folders."""

    def __init__(self) -> None:
        self.bytes = self.loads = self.folders = 0

    def spend(self, size: int) -> None:
        """Count a file; refuse it if it is one too many."""
        self.bytes += size
        self.loads += 1
        if self.bytes > MAX_TOTAL_BYTES or self.loads > MAX_LOADS:
            raise TooLarge(
                f"the kustomization is too large: it may load {MAX_LOADS} files and {MAX_TOTAL_BYTES >> 20} MiB at most"
            )

    def enter(self) -> None:
        """Count a folder; refuse it if it is one too many."""
        self.folders += 1
        if self.folders > MAX_FOLDERS:
            raise TooLarge(
                f"the kustomization is too large: it may have {MAX_FOLDERS} bases and components at most"
            )


class Loader:
    """The folder of a kustomization; ``referrer`` is the loader of the one that refers to it."""

    def __init__(self, root: str, restriction: str, budget: Budget, referrer: Loader | None = None) -> None:
        self.root, self.restriction, self.budget, self.referrer = root, restriction, budget, referrer
        self.repository: Repository | None = None

    def new(self, path: str) -> Loader:
        """Return a loader of a folder that a kustomization refers to."""
        if not path:
            raise BuildError("new root cannot be empty")
        remote = repository(path)
        if remote is not None:
            self._refuse_repository_cycle(remote)
            return _cloned(remote, self.budget, self)
        if os.path.isabs(path):
            raise BuildError(f"new root '{path}' cannot be absolute")
        root = confirmed_directory(os.path.normpath(os.path.join(self.root, path)))
        containing = self._containing()
        if containing is not None and not is_within(root, containing.directory):
            raise BuildError(
                "security; bases in kustomizations found in cloned git repos must be within the repo, "
                f"but base '{root}' is outside '{containing.directory}'"
            )
        self._refuse_cycle(root)
        return Loader(root, self.restriction, self.budget, self)

    def _ancestry(self) -> list[Loader]:
        loaders, loader = [], self
        while True:
            loaders.append(loader)
            if loader.referrer is None:
                return loaders
            loader = loader.referrer

    def _containing(self) -> Repository | None:
        return next((loader.repository for loader in self._ancestry() if loader.repository), None)

    def _refuse_cycle(self, root: str) -> None:
        for loader in self._ancestry():
            if is_within(loader.root, root):
                raise BuildError(
                    f"cycle detected: candidate root '{root}' contains visited root '{loader.root}'"
                )

    def _refuse_repository_cycle(self, remote: Repository) -> None:
        for loader in self._ancestry():
            if loader.repository is not None and loader.repository.raw.startswith(remote.raw):
                raise BuildError(
                    f"cycle detected: URI '{remote.raw}' referenced by previous URI '{loader.repository.raw}'"
                )

    def load(self, path: str) -> bytes:
        """Return the content of a file."""
        if path.startswith(("http://", "https://")):
            from pybernetes.tools.kubectl.kustomize.remote import download

            data = download(path, MAX_FILE_BYTES)
            self.budget.spend(len(data))
            return data
        if not os.path.isabs(path):
            path = os.path.normpath(os.path.join(self.root, path))
        if self.restriction == ROOT_ONLY:
            path = self._restricted(path)
        data = read_file(path)
        self.budget.spend(len(data))
        return data

    def _restricted(self, path: str) -> str:
        real = resolved(path)
        if os.path.isdir(real):
            raise BuildError(f"'{path}' must resolve to a file")
        if not is_within(os.path.dirname(real), self.root):
            raise BuildError(f"security; file '{path}' is not in or below '{self.root}'")
        return real

    def clean(self) -> None:
        """Remove what was cloned."""
        if self.repository is not None:
            self.repository.clean()


def is_within(path: str, root: str) -> bool:
    """Return whether a folder is another one or below it."""
    return root in ("/", path) or path.startswith(f"{root}/")


def read_file(path: str) -> bytes:
    """Return the content of a regular file of a bearable size."""
    try:
        # What is no file could keep a reader waiting for ever: it is looked at before it is read.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise BuildError(f"open {path}: {_reason(error)}") from None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise BuildError(f"read {path}: is a directory")
        if not stat.S_ISREG(status.st_mode):
            raise BuildError(f"'{path}' is not a regular file")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > MAX_FILE_BYTES:
        raise BuildError(f"'{path}' has more than {MAX_FILE_BYTES >> 20} MiB")
    return data


def resolved(path: str) -> str:
    """Return a path without links."""
    absolute = os.path.abspath(path)
    current = "/"
    # The first part that is not there is the one that the original names.
    try:
        return os.path.realpath(absolute, strict=True)
    except OSError as error:
        failed = error.filename or absolute
        for part in absolute.split("/")[1:]:
            following = os.path.join(os.path.realpath(current), part)
            if not os.path.exists(following):
                failed = following
                break
            current = following
        raise BuildError(f"evalsymlink failure on '{path}' : lstat {failed}: {_reason(error)}") from None


def confirmed_directory(path: str) -> str:
    """Return a folder without links; refuse what is none."""
    if not path:
        raise BuildError("must build at directory: directory path cannot be empty")
    try:
        real = resolved(path)
    except BuildError as error:
        raise BuildError(f"must build at directory: not a valid directory: {error.message}") from None
    if not os.path.isdir(real):
        raise BuildError(f"must build at directory: '{path}': file is not directory")
    return real


def open_target(target: str, restriction: str) -> Loader:
    """Return the loader of what is to be built."""
    remote = repository(target)
    if remote is not None:
        return _cloned(remote, Budget(), None)
    return Loader(confirmed_directory(target), restriction, Budget())


def _cloned(remote: Repository, budget: Budget, referrer: Loader | None) -> Loader:
    remote.clone()
    try:
        path = os.path.normpath(os.path.join(remote.directory, remote.path))
        root = resolved(path)
        if not os.path.isdir(root):
            raise BuildError(f"'{path}' refers to file '{os.path.basename(root)}'; expecting directory")
        if not is_within(root, remote.directory):
            raise BuildError(f'"{path}" refers to directory outside of repo "{remote.directory}"')
    except BuildError:
        remote.clean()
        raise
    loader = Loader(root, ROOT_ONLY, budget, referrer)
    loader.repository = remote
    return loader


def _reason(error: OSError) -> str:
    return (error.strerror or "").lower()
