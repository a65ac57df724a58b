"""Runs command lines through our kubectl and an original: exit code, output, errors and requests must be alike.

``python -m tests.tools.kubectl.differential.runner [--original PATH] [--every N] [--only TEXT] [--report FILE]`` runs them
all, or every Nth; the exit code says whether there is a difference that known.txt does not list.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pybernetes.tools.kubectl.main import main as kubectl
from tests.servers import TOKEN, Server, running
from tests.tools.kubectl.differential import files
from tests.tools.kubectl.differential.command_lines import lines
from tests.tools.kubectl.differential.recording_proxy import Recorded, RecordingProxy, proxies

HERE = Path(__file__).parent
OURS = (1, 37)
LONGEST = 30  # seconds for a command line
_MADE = [
    (re.compile(r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ "), ""),
    (re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}"), "<time>"),
    (re.compile(r"\bdebugger-(node-\d-)?\w{5}\b"), r"debugger-\1<name>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r"(\"?resourceVersion\"?: ?)\"\d+\""), r'\1"<version>"'),
    (re.compile(r"(?<![\w.])(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?: ago)?(?=\s|$|\))"), ""),
    (
        re.compile(r"(\"?(?:gitVersion|gitCommit|buildDate|goVersion|compiler)\"?: ?)\"?[^\s\",]+\"?"),
        r"\1<build>",
    ),
    (re.compile(r"(Client Version: )v\S+"), r"\1<build>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<server>"),
    (re.compile(r"\beyJ[\w.-]+"), "<token>"),
    (re.compile(r"10\.0\.\d+\.\d+"), "<address>"),
    (re.compile(r"/tmp/[\w./-]*(LIVE|MERGED)-\w+"), r"<\1>"),
    (re.compile(r"[ \t]+"), " "),
    (re.compile(r"-{3,}"), "---"),
]


_WAITING = {"attach", "debug", "drain", "events", "exec", "logs", "port-forward", "rollout", "wait"}


def _too_long(*_: object) -> None:
    raise TimeoutError


class Outcome(NamedTuple):
    """What a command line did."""

    code: int
    output: str
    errors: str
    requests: list[Recorded]
    files: str


class Difference(NamedTuple):
    """A command line that the two do not run alike."""

    line: str
    parts: str
    text: str


class Known(NamedTuple):
    """A difference that is listed, with its reason; ``before`` is the version from which on it is none."""

    pattern: re.Pattern[str]
    parts: frozenset[str]
    before: tuple[int, ...]
    reason: str


def known() -> list[Known]:
    """Return the listed differences: parts, a version or a dash, a pattern of lines, a reason, with tabs between."""
    differences = []
    for raw in (HERE / "known.txt").read_text().splitlines():
        if raw and not raw.startswith("#"):
            parts, before, pattern, reason = raw.split("\t")
            version = tuple(map(int, before.split("."))) if before != "-" else (99,)
            differences.append(Known(re.compile(pattern), frozenset(parts.split(",")), version, reason))
    return differences


def is_known(difference: Difference, version: tuple[int, ...], listed: list[Known]) -> bool:
    """Tell whether a difference to an original of a version is listed."""
    parts = set(difference.parts.split(","))
    for entry in listed:
        if version < entry.before and entry.pattern.search(difference.line):
            parts -= entry.parts
    return not parts


class Side:
    """A kubectl, its folder with files, and the proxy that it talks to."""

    def __init__(self, folder: Path, proxy: RecordingProxy, original: str = "") -> None:
        self._folder, self._proxy, self._original = folder, proxy, original
        folder.mkdir()
        self._files = files.Folder(folder, proxy.address)
        self._environment = {
            "HOME": str(folder), "PATH": os.environ["PATH"], "KUBECONFIG": str(folder / files.CONFIG), "TZ": "UTC", "LANG": "C",
            "KUBECACHEDIR": str(folder / "cache"), "KUBE_EDITOR": "true",
        }  # fmt: skip

    def version(self) -> tuple[int, ...]:
        """Return the version of the original."""
        done = self._run(["version", "--client", "-o", "json"])
        match = re.match(r"v(\d+)\.(\d+)", json.loads(done[1])["clientVersion"]["gitVersion"])
        assert match is not None
        return int(match[1]), int(match[2])

    def _run(self, arguments: list[str]) -> tuple[int, str, str]:
        if self._original:
            try:
                done = subprocess.run(
                    [self._original, *arguments], env=self._environment, cwd=self._folder, text=True, errors="replace",
                    capture_output=True, stdin=subprocess.DEVNULL, timeout=LONGEST, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return 124, "", "it does not end\n"
            return done.returncode, done.stdout, done.stderr
        out, err = io.StringIO(), io.StringIO()
        before = Path.cwd()
        os.chdir(self._folder)
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(LONGEST)
        try:
            code = kubectl(
                arguments, stdin=io.StringIO(), stdout=out, stderr=err, environment=self._environment
            )
        except TimeoutError:
            return 124, "", "it does not end\n"
        except Exception as error:  # a defect: a difference with its name
            code = 99
            err.write(f"{type(error).__name__}: {error}\n")
        finally:
            signal.alarm(0)
            os.chdir(before)
        return code, out.getvalue(), err.getvalue()

    def run(self, line: str) -> Outcome:
        """Run a command line."""
        self._proxy.taken()
        words = shlex.split(line)
        if words[0] in _WAITING:
            words.insert(1, "--request-timeout=3s")
        code, out, err = self._run(words)
        texts = [text.replace(str(self._folder), "<folder>") for text in (out, err)]
        return Outcome(code, texts[0], texts[1], self._proxy.taken(), self._files.changes())


def cleaned(text: str) -> str:
    """Return a text without what is different in every run."""
    for pattern, new in _MADE:
        text = pattern.sub(new, text)
    return "\n".join(line.rstrip() for line in text.split("\n"))


def compared(line: str, ours: Outcome, theirs: Outcome, old: bool = False) -> Difference | None:
    """Return what is different, or None; ``old`` puts aside what originals before ours print differently everywhere."""
    if old:
        theirs = _renewed(theirs)
    texts: dict[str, tuple[Any, Any]] = {
        "code": (ours.code, theirs.code),
        "stdout": (_plain(ours.output, line), _plain(theirs.output, line)),
        "stderr": (cleaned(ours.errors), cleaned(theirs.errors)),
        "files": (cleaned(ours.files), cleaned(theirs.files)),
        "requests": _both(ours.requests, theirs.requests),
    }
    parts = [name for name, (mine, other) in texts.items() if mine != other]
    if not parts:
        return None
    shown = "".join(
        f"--- {name}, ours\n{texts[name][0]}\n--- {name}, the original's\n{texts[name][1]}\n"
        for name in parts
    )
    return Difference(line, ",".join(parts), f"kubectl {line}\n{shown}")


_SINCE = [
    (re.compile(r"^Error: ", re.MULTILINE), "error: "),
    (re.compile(r'^E\d{4} .* "command failed" err="(.*)"$', re.MULTILINE), r"error: \1"),
    (re.compile(r"^\s*creationTimestamp: null\n", re.MULTILINE), ""),
    (re.compile(r"^preferences: {}\n", re.MULTILINE), ""),
]


def _renewed(outcome: Outcome) -> Outcome:
    """Return what an older original did as it would be today."""
    texts = [outcome.output, outcome.errors, outcome.files]
    for pattern, new in _SINCE:
        texts = [pattern.sub(new, text) for text in texts]
    if "required flag(s)" in texts[1]:
        texts[1] = texts[1].replace('\\"', '"')
    if texts[0].startswith("{"):
        with contextlib.suppress(ValueError):
            texts[0] = json.dumps(_without_nulls(json.loads(texts[0])))
    requests = [item._replace(body=_without_nulls(item.body)) for item in outcome.requests]
    return Outcome(outcome.code, texts[0], texts[1], requests, texts[2])


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if not isinstance(value, dict):
        return value
    empty: dict[str, Any] = {"creationTimestamp": None, "preferences": {}}
    return {
        key: _without_nulls(item) for key, item in value.items() if key not in empty or item != empty[key]
    }


_DESCRIBED = re.compile(r"^(--?[\w-]+)\t.*$", re.MULTILINE)


def _plain(text: str, line: str) -> str:
    """Return a text as it is compared: of JSON what it says, not the order of its keys; of flags that shells are told the names."""
    text = _WHOLE_LINE.sub(lambda match: _ordered(match[0]), text)
    if line.startswith("__complete"):
        return cleaned(_DESCRIBED.sub(r"\1", text))
    if text.startswith("{"):
        with contextlib.suppress(ValueError):
            return cleaned("\n".join(json.dumps(value, indent=1, sort_keys=True) for value in _values(text)))
    return cleaned(text)


_WHOLE_LINE = re.compile(r"^[ \t]*\{.*\}$", re.MULTILINE)


def _ordered(text: str) -> str:
    """Return an object in JSON, as an error of a template shows it, with its keys in one order."""
    with contextlib.suppress(ValueError):
        return json.dumps(json.loads(text), sort_keys=True)
    return text


def _values(text: str) -> Iterator[Any]:
    """Yield the JSON values of a text, one after the other."""
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        yield value
        text = text[end:]


def _both(ours: list[Recorded], theirs: list[Recorded]) -> tuple[str, str]:
    """Return the requests of both sides; where the original sends protobuf, what is in it is not compared."""
    theirs = _without_second_tries(theirs)
    opaque = {place for place, item in enumerate(theirs) if item.content_type.endswith("protobuf")}
    return _requests(ours, opaque), _requests(theirs, opaque)


_UPGRADED = re.compile(r"/pods/[^/]+/(exec|attach|portforward)$")


def _without_second_tries(recorded: list[Recorded]) -> list[Recorded]:
    """Return the requests without the SPDY that follows a refused WebSocket, which asks for the same."""
    return [
        item
        for place, item in enumerate(recorded)
        if not (
            place
            and item.method == "POST"
            and _UPGRADED.search(item.path)
            and recorded[place - 1][:3] == ("GET", item.path, item.query)
        )
    ]


# How a watch begins: ours goes on from what was read, the original has everything sent again.
_BEGINNING = {
    "allowWatchBookmarks", "resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds",
}  # fmt: skip


def _requests(recorded: list[Recorded], opaque: set[int]) -> str:
    lines = []
    for place, item in enumerate(recorded):
        body = cleaned(json.dumps(item.body, sort_keys=True))
        content = "" if place in opaque else f"{item.content_type} {body}"
        query = {key: _selector(value) if key == "fieldSelector" else value for key, value in item.query}
        if "watch" in query:
            query = {key: value for key, value in query.items() if key not in _BEGINNING}
        lines.append(f"{item.method} {item.path} {query} {content}")
    return "\n".join(lines)


def _selector(text: str) -> str:
    """Return a selector in one order: the original takes its parts from a map."""
    return ",".join(sorted(text.split(",")))


@contextmanager
def sides(original: str) -> Iterator[tuple[Side, Side]]:
    """Yield our kubectl and an original before one server, which has the objects of state.yaml."""
    with tempfile.TemporaryDirectory(prefix="differential-") as name:
        folder = Path(name)
        (folder / "server").mkdir()
        with (
            running(folder / "server", "--storage-backend=memory") as server,
            proxies(server.port, TOKEN, 2) as made,
        ):
            fill(server)
            yield Side(folder / "ours", made[0]), Side(folder / "original", made[1], original)


def fill(server: Server) -> None:
    """Give a server the objects of state.yaml."""
    for value in yaml.safe_load_all((HERE / "state.yaml").read_text()):
        path = collection(value)
        code, made = server.call("POST", path, value)
        assert code == 201, made
        if "status" in value:
            made["status"] = value["status"]
            code, made = server.call("PUT", f"{path}/{value['metadata']['name']}/status", made)
            assert code == 200, made


_CLUSTER_WIDE = {
    "Node", "PersistentVolume", "StorageClass", "ClusterRole", "ClusterRoleBinding", "PriorityClass",
    "CertificateSigningRequest",
}  # fmt: skip
_PLURALS = {"Endpoints": "endpoints", "Ingress": "ingresses", "StorageClass": "storageclasses"}


def collection(value: dict[str, Any]) -> str:
    """Return the path of the collection that an object of state.yaml belongs to."""
    version, kind = value["apiVersion"], value["kind"]
    plural = _PLURALS.get(kind) or re.sub("y$", "ie", kind.lower()) + ("es" if kind.endswith("ss") else "s")
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    return f"{root}/{plural}" if kind in _CLUSTER_WIDE else f"{root}/namespaces/default/{plural}"


def run_all(original: str, chosen: list[str]) -> tuple[tuple[int, ...], list[Difference]]:
    """Return the version of the original, and the lines that the two do not run alike."""
    with sides(original) as (ours, theirs), ThreadPoolExecutor(1) as pool:
        version = theirs.version()
        theirs.run("api-resources")  # the cache of resources is warm for both
        ours.run("api-resources")
        pending = [(line, pool.submit(theirs.run, line)) for line in chosen]
        old = version < OURS
        differences = [compared(line, ours.run(line), future.result(), old) for line, future in pending]
    return version, [difference for difference in differences if difference is not None]


def main() -> int:
    """Run the command lines and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--original", default=os.environ.get("KUBECTL", "kubectl"))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--report", default="")
    options = parser.parse_args()
    chosen = [line for line in lines() if re.search(options.only, line)][:: options.every]
    version, differences = run_all(options.original, chosen)
    listed = known()
    unlisted = [entry for entry in differences if not is_known(entry, version, listed)]
    for difference in unlisted:
        print(f"[{difference.parts}] kubectl {difference.line}")
    if options.report:
        marks = ((entry, "" if entry in unlisted else "listed ") for entry in differences)
        Path(options.report).write_text(
            "\n".join(f"{mark}[{entry.parts}] {entry.text}" for entry, mark in marks)
        )
    print(f"{len(chosen)} lines, {len(differences)} differ, {len(unlisted)} of them are not listed")
    return 1 if unlisted else 0


if __name__ == "__main__":
    sys.exit(main())
