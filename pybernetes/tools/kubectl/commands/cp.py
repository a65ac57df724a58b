"""cp: copies files to and from containers, with the tar that the container has."""

from __future__ import annotations

import io
import os
import posixpath
import tarfile

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.exec import execute
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted
from pybernetes.tools.kubectl.resources.pods import choose_container, named

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Copy files and directories to and from containers"
USAGE = "cp <file-spec-src> <file-spec-dest>"
COMPLETION = "files"
FLAGS = ("""
c container string | the container
- no-preserve bool false | do not keep owner and permissions
- retries int 0 | how often to go on after an error; negative is without end
""",)  # fmt: skip


class _Spec:
    """A file here, or in a pod: [[NAMESPACE/]POD:]PATH."""

    def __init__(self, text: str) -> None:
        self.namespace = self.pod = ""
        self.path = text
        head, colon, path = text.partition(":")
        if not colon or (text.startswith(("/", ".", "~")) and "/" in head):
            return
        if not head:
            raise CommandError("filespec must match the canonical format: [[namespace/]pod:]file/path")
        parts = head.split("/")
        if len(parts) > 2:
            raise CommandError("filespec must match the canonical format: [[namespace/]pod:]file/path")
        self.pod = parts[-1]
        self.namespace = parts[0] if len(parts) == 2 else ""
        self.path = path


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


def _pod(context: Context, spec: _Spec) -> tuple[Object, str]:
    if spec.namespace:
        context.__dict__["namespace"] = spec.namespace
    pod = named(context, spec.pod).object
    phase = (pod.get("status") or {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        raise CommandError(f"cannot exec into a container in a completed pod; current phase is {phase}")
    return pod, choose_container(context, pod, context.flags.container)


class _Sink:
    """Takes the output of a command in a container."""

    def __init__(self) -> None:
        self.buffer = io.BytesIO()

    def flush(self) -> None:
        """Do nothing: there is no buffer."""


def _to_pod(context: Context, path: str, target: _Spec) -> None:
    if not os.path.exists(path):
        raise CommandError(f"{path} doesn't exist in local filesystem")
    pod, container = _pod(context, target)
    destination = target.path
    directory = _is_directory(context, pod, container, destination)
    if directory:
        destination = posixpath.join(destination, os.path.basename(path.rstrip("/")))
    destination = posixpath.normpath(destination)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(path, arcname=posixpath.basename(destination))
    command = [
        "tar",
        *(["--no-same-permissions", "--no-same-owner"] if context.flags.no_preserve else []),
        "-xmf",
        "-",
    ]
    folder = posixpath.dirname(destination)
    if folder:
        command += ["-C", folder]
    code = execute(context, pod, container, command, stdin=True, given=archive.getvalue())
    if code:
        raise CommandError(f"command terminated with exit code {code}", code)


def _quiet(context: Context) -> tuple[Context, io.StringIO]:
    """Return the same context with a buffer for its error output."""
    aside = io.StringIO()
    quiet = Context(context.flags, context.path, stdin=context.stdin, stdout=context.stdout, stderr=aside)
    kept = ("client", "discovery", "namespace")
    quiet.__dict__.update({key: context.__dict__[key] for key in kept if key in context.__dict__})
    return quiet, aside


def _is_directory(context: Context, pod: Object, container: str, path: str) -> bool:
    return execute(_quiet(context)[0], pod, container, ["test", "-d", path], output=_Sink()) == 0


def _from_pod(context: Context, source: _Spec, path: str) -> None:
    pod, container = _pod(context, source)
    sink = _Sink()
    quiet, complaints = _quiet(context)
    code = execute(quiet, pod, container, ["tar", "cf", "-", source.path], output=sink)
    if code:
        context.stderr.write(complaints.getvalue())
        raise CommandError(f"command terminated with exit code {code}", code)
    prefix = posixpath.normpath(source.path).lstrip("/")
    if os.path.isdir(path):
        path = os.path.join(path, posixpath.basename(posixpath.normpath(source.path)))
    sink.buffer.seek(0)
    try:
        with tarfile.open(fileobj=sink.buffer) as tar:
            for member in tar:
                _extract(context, tar, member, prefix, path)
    except tarfile.TarError:
        raise CommandError("tar contents corrupted") from None


def _extract(context: Context, tar: tarfile.TarFile, member: tarfile.TarInfo, prefix: str, path: str) -> None:
    name = member.name.lstrip("/")
    if not (name == prefix or name.startswith(f"{prefix}/") or prefix in ("", ".")):
        raise CommandError("tar contents corrupted")
    relative = name[len(prefix) :].lstrip("/") if prefix not in ("", ".") else name
    target = os.path.normpath(os.path.join(path, relative)) if relative else path
    root = os.path.abspath(path)
    if os.path.abspath(target) != root and not os.path.abspath(target).startswith(root.rstrip("/") + "/"):
        context.warn(f"warning: file {quoted(target)} is outside target destination, skipping")
        return
    if member.isdir():
        os.makedirs(target, exist_ok=True)
        return
    if member.issym() or member.islnk():
        context.warn(f"warning: skipping symlink: {quoted(target)} -> {quoted(member.linkname)}")
        return
    os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
    content = tar.extractfile(member)
    if content is None:
        return
    with open(target, "wb") as file:
        file.write(content.read())
    if not context.flags.no_preserve:
        os.chmod(target, member.mode & 0o777)
