"""cp: copies files to and from containers, with the tar that the container has."""

from __future__ import annotations

import io
import os
import posixpath
import tarfile
import threading

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands._unpacking import unpack
from pybernetes.tools.kubectl.commands.exec import execute
from pybernetes.tools.kubectl.connection import streaming
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, Verbatim, escaped, quoted
from pybernetes.tools.kubectl.resources.built_in import built_in
from pybernetes.tools.kubectl.resources.pods import choose_container

if TYPE_CHECKING:
    from typing import BinaryIO, TextIO

    from pybernetes.api.resource import Object


SUMMARY = "Copy files and directories to and from containers"
USAGE = "cp <file-spec-src> <file-spec-dest>"
COMPLETION = "files"
FLAGS = ("""
c container string | the container
- no-preserve bool false | do not keep owner and permissions
- retries int 0 | how often to go on after an error; negative is without end
""",)  # fmt: skip

# How long a tar whose archive is of no use has to say why.
_LAST_WORDS_SECONDS = 5.0


class _Spec:
    """A file here, or in a pod: [[NAMESPACE/]POD:]PATH."""

    def __init__(self, text: str) -> None:
        self.namespace = self.pod = ""
        self.path = text
        head, colon, path = text.partition(":")
        if not colon:
            self.path = _without_slash(text)
            return
        if not head:
            raise CommandError("filespec must match the canonical format: [[namespace/]pod:]file/path")
        parts = head.split("/")
        if len(parts) > 2:
            raise CommandError("filespec must match the canonical format: [[namespace/]pod:]file/path")
        self.pod = parts[-1]
        self.namespace = parts[0] if len(parts) == 2 else ""
        if self.namespace in (".", ".."):
            raise CommandError(f"invalid namespace \"{self.namespace}\": [may not be '{self.namespace}']")
        self.path = _without_slash(path)


def _without_slash(path: str) -> str:
    return path[:-1] if len(path) > 1 and path.endswith("/") else path


def run(context: Context) -> None:
    """Copy files from or to a container."""
    if len(context.args) != 2:
        raise CommandError("source and destination are required")
    source, target = (_Spec(word) for word in context.args)
    if source.pod and target.pod:
        raise CommandError("one of src or dest must be a local file specification")
    if not source.path or not target.path:
        raise CommandError("filepath can not be empty")
    if source.pod:
        _from_pod(context, source, target.path)
    elif target.pod:
        _to_pod(context, source.path, target)
    else:
        raise CommandError("one of src or dest must be a remote file specification")


def _pod(context: Context, spec: _Spec, told: TextIO) -> tuple[Object, str]:
    """Return the pod and the name of its container; which one was taken is told to the given output."""
    if spec.namespace:
        context.__dict__["namespace"] = spec.namespace
    pod = context.client.get(built_in("Pod"), context.namespace, spec.pod)
    phase = (pod.get("status") or {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        raise CommandError(f"cannot exec into a container in a completed pod; current phase is {phase}")
    return pod, choose_container(_quiet(context, told), pod, context.flags.container)


class _Sink:
    """Takes the output of a command in a container: to a file, or to nobody."""

    def __init__(self, buffer: BinaryIO | None = None) -> None:
        self.buffer = buffer or io.BytesIO()

    def flush(self) -> None:
        """Do nothing: there is no buffer."""


class _Input:
    """The input of a command in a container, as a file to write to."""

    def __init__(self, write: streaming.Write) -> None:
        self.write = write


def _to_pod(context: Context, path: str, target: _Spec) -> None:
    if not os.path.exists(path):
        raise CommandError(f"{path} doesn't exist in local filesystem")
    pod, container = _pod(context, target, context.stderr)
    destination = target.path
    directory = _is_directory(context, pod, container, destination)
    if directory:
        destination = posixpath.join(destination, os.path.basename(path.rstrip("/")))
    destination = posixpath.normpath(destination)
    command = [
        "tar",
        *(["--no-same-permissions", "--no-same-owner"] if context.flags.no_preserve else []),
        "-xmf",
        "-",
    ]
    folder = posixpath.dirname(destination)
    if folder:
        command += ["-C", folder]
    problems: list[str] = []

    def give(write: streaming.Write) -> None:
        """Write the archive while it is made: it may be larger than the memory."""
        try:
            with tarfile.open(fileobj=_Input(write), mode="w|") as tar:  # type: ignore[call-overload]
                _add(tar, path, posixpath.basename(destination))
        except OSError as error:
            if error.filename is not None:  # and not that the other side has left
                problems.append(f"{error.filename}: {(error.strerror or '').lower()}")
            raise

    code = execute(context, pod, container, command, stdin=True, given=give)
    if problems:
        raise CommandError(problems[0])
    if code:
        raise Verbatim(f"command terminated with exit code {code}", code)


def _add(tar: tarfile.TarFile, path: str, name: str) -> None:
    """Add a file, or the files below a folder; of folders only empty ones are named, so that modes there stay."""
    if os.path.isdir(path) and not os.path.islink(path) and (entries := sorted(os.listdir(path))):
        for entry in entries:
            _add(tar, os.path.join(path, entry), posixpath.join(name, entry))
        return
    tar.add(path, arcname=name, recursive=False)


class _Complaints(io.StringIO):
    """Writes what a command in a container complains about to the standard output, where the original writes it."""

    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._out = out

    def write(self, text: str) -> int:
        """Write a text, as it may be shown on a terminal."""
        self._out.write(escaped(text))
        self._out.flush()
        return len(text)


def _quiet(context: Context, aside: TextIO) -> Context:
    """Return the same context with another error output."""
    quiet = Context(context.flags, context.path, stdin=context.stdin, stdout=context.stdout, stderr=aside)
    kept = ("client", "discovery", "namespace")
    quiet.__dict__.update({key: context.__dict__[key] for key in kept if key in context.__dict__})
    return quiet


def _is_directory(context: Context, pod: Object, container: str, path: str) -> bool:
    try:
        return (
            execute(_quiet(context, io.StringIO()), pod, container, ["test", "-d", path], output=_Sink()) == 0
        )
    except CommandError:  # there need not be such a program
        return False


class _Counted:
    """A file to write to, and how many bytes it took."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.count = file, 0

    def write(self, data: bytes) -> int:
        """Write to the file."""
        written = self._file.write(data)
        self.count += len(data)
        return written

    def flush(self) -> None:
        """Do nothing: there is no buffer."""


def _fetch(context: Context, pod: Object, container: str, path: str, file: BinaryIO) -> int:
    """Write an archive of a path to a file, and go on where it broke off as often as --retries allows."""
    most, taken, tries = context.flags.retries, _Counted(file), 0
    while True:
        command = ["tar", "cf", "-", path]
        if most:
            single = path.replace("'", "'\\''")
            command = ["sh", "-c", f"tar cf - '{single}' | tail -c+{taken.count + 1 if tries else 0}"]
        try:
            return execute(context, pod, container, command, output=_Sink(taken))  # type: ignore[arg-type]
        except (ApiError, streaming.Refused):
            raise  # the server does not want to: asked again at once, and with -1 for ever, it would say the same
        except CommandError:
            if 0 <= most <= tries:
                if most:
                    context.out(f"Dropping out copy after {tries} retries")
                raise
            tries += 1
            context.out(f"Resuming copy at {taken.count} bytes, retry {tries}/{most}")


def _prefix(path: str) -> str:
    """Return what the names in the archive of a path begin with: tar leaves out what leads out of the folder."""
    prefix = posixpath.normpath(path).lstrip("/")
    while prefix == ".." or prefix.startswith("../"):
        prefix = prefix[2:].lstrip("/")
    return prefix


def _from_pod(context: Context, source: _Spec, path: str) -> None:
    pod, container = _pod(context, source, context.stdout)
    quiet = _quiet(context, _Complaints(context.stdout))
    reading, writing = os.pipe()
    ended: list[int | CommandError] = []

    def fetch() -> None:
        with open(writing, "wb", 0) as file:
            try:
                ended.append(_fetch(quiet, pod, container, source.path, file))
            except CommandError as error:
                ended.append(error)
            except OSError:
                pass  # what it sends was not what was wanted

    fetching = threading.Thread(target=fetch, daemon=True)
    fetching.start()
    problem = None
    with open(reading, "rb") as archive:
        try:
            hint = f"kubectl exec -n {quoted(source.namespace)} {quoted(source.pod)} -- tar cf - {quoted(source.path)}"
            unpack(archive, _prefix(source.path), path, context.warn, hint)
        except CommandError as error:
            problem = error
    fetching.join(_LAST_WORDS_SECONDS)
    if problem is None:
        return  # the archive is whole: what tar says of the files that it left out is no failure
    code = ended[0] if ended else 0
    if isinstance(code, CommandError):
        raise code
    if code:
        raise Verbatim(f"command terminated with exit code {code}", code)
    if problem is not None:
        raise problem
