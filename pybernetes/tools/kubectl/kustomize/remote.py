"""Bases that are elsewhere: which texts mean a git repository, cloning it, and files by HTTP."""

from __future__ import annotations

import os
import re
import shutil

from pybernetes.tools.kubectl.kustomize.errors import BuildError

_TIMEOUT = 27.0
_SCHEMES = ("ssh://", "https://", "http://", "file://")
_USER = re.compile(r"([a-zA-Z][a-zA-Z0-9-]*)@")


class NotHttp(BuildError):
    """The server answered with an error."""


class TimedOut(BuildError):
    """A program took too long."""


class Repository:
    """A git repository, the folder in it that is meant, and where it is cloned to."""

    directory = "/notCloned"

    def __init__(self, raw: str, address: str, path: str, query: str) -> None:
        from urllib.parse import parse_qs

        self.raw, self.address, self.path = raw, address, path
        values = {name: texts[0] for name, texts in parse_qs(query).items()}
        self.ref = values.get("ref") or values.get("version") or ""
        self.timeout = _seconds(values.get("timeout", "")) or _TIMEOUT
        self.submodules = values.get("submodules", "").lower() not in ("0", "f", "false")

    def clone(self) -> None:
        """Fetch the one commit that is needed."""
        import tempfile

        program = shutil.which("git")
        if program is None:
            raise BuildError("no 'git' program on path: exec: \"git\": executable file not found in $PATH")
        # Git takes options anywhere, and some of them name programs to run. No reference and no address begins like that.
        if self.ref.startswith("-") or self.address.startswith("-"):
            raise BuildError(
                f"'{self.raw}' is no repository: '{self.ref or self.address}' is an option of git"
            )
        self.directory = os.path.realpath(tempfile.mkdtemp(prefix="kustomize-"))
        try:
            self._run(program, "init")
            self._run(program, "remote", "add", "origin", self.address)
            self._run(program, "fetch", "--depth=1", self.address, self.ref or "HEAD")
            self._run(program, "checkout", "FETCH_HEAD")
            if self.submodules:
                self._run(program, "submodule", "update", "--init", "--recursive")
        except BaseException:
            self.clean()
            raise

    def _run(self, *command: str) -> None:
        import subprocess

        line = " ".join(command)
        try:
            done = subprocess.run(
                command,
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.timeout,
            )
        except subprocess.TimeoutExpired:
            raise TimedOut(f"hit {_duration(self.timeout)} timeout running '{line}'") from None
        if done.returncode:
            said = (done.stdout + done.stderr).decode(errors="replace")
            raise BuildError(f"failed to run '{line}': {said}: exit status {done.returncode}")

    def clean(self) -> None:
        """Remove the clone."""
        if self.directory != Repository.directory:
            shutil.rmtree(self.directory, ignore_errors=True)


def repository(text: str) -> Repository | None:
    """Return the repository that a text means, None if it means a path."""
    if os.path.isabs(text):
        return None
    rest, _, query = text.partition("?")
    if rest.lower().startswith("git::"):
        rest = rest[len("git::") :]
    scheme = next((prefix for prefix in _SCHEMES if rest.lower().startswith(prefix)), "")
    rest = rest[len(scheme) :]
    match = _USER.match(rest)
    user = match[0] if match else ""
    rest = rest[len(user) :]
    github = rest.lower().startswith(("github.com/", "github.com:"))
    if not scheme and not user and not github:
        return None
    if scheme == "file://":
        host, rest = scheme, user + rest
    else:
        place = _separator(rest, not scheme)
        host, rest = (rest[: place + 1], rest[place + 1 :]) if place >= 0 else (rest, "")
        if github:
            ssh = scheme == "ssh://" or user
            scheme, host = ("", "github.com:") if ssh else ("https://", "github.com/")
            user = user if ssh else ""
        if not host:
            return None
        host = scheme + user + host
    parts = _split(rest, scheme == "file://")
    if parts is None or not parts[0]:
        return None
    inner = os.path.normpath(parts[1].removeprefix("/") or ".")
    if inner.split("/")[0] == "..":
        return None
    return Repository(text, host + parts[0], parts[1].removeprefix("/"), query)


def _separator(text: str, scp: bool) -> int:
    slash = text.find("/")
    if scp:
        colon = text.find(":")
        if slash == -1 or 0 < colon < slash:
            return colon
    return slash


def _split(text: str, whole: bool) -> tuple[str, str] | None:
    """Return the path of the repository, and the path in it."""
    if "_git/" in text:
        before, _, after = text.partition("_git/")
        name, _, inner = after.partition("/")
        return f"{before}_git/{name}", inner
    if "//" in text:
        before, _, inner = text.partition("//")
        return before, inner
    if ".git" in text:
        before, _, inner = text.partition(".git")
        return f"{before}.git", inner
    if whole:
        return text, ""
    segments = text.split("/")
    return ("/".join(segments[:2]), "/".join(segments[2:])) if len(segments) >= 2 else None


def _seconds(text: str) -> float:
    from pybernetes.api.text.durations import parse_duration

    try:
        seconds = float(text) if text.isdigit() else parse_duration(text) if text else 0.0
    except ValueError:
        return 0.0
    return max(seconds, 0.0)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes)}m{rest:g}s" if minutes else f"{rest:g}s"


def download(url: str, limit: int) -> bytes:
    """Return a file from an HTTP server."""
    import urllib.error
    import urllib.request

    from pybernetes.tools.kubectl.resources.manifests import unreachable

    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer:
            data: bytes = answer.read(limit + 1)
    except urllib.error.HTTPError as error:
        if repository(url) is not None:
            raise BuildError("URL is a git repository") from None
        raise NotHttp(f"HTTP Error: status code {error.code} ({error.reason})") from None
    except (OSError, ValueError) as error:
        reason = unreachable(url, getattr(error, "reason", error)).reason
        raise BuildError(f'Get "{url}": {reason}') from None
    if len(data) > limit:
        raise BuildError(f"'{url}' has more than {limit >> 20} MiB")
    return data
