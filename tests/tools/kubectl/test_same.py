"""The same command lines through our kubectl and through the real one, against one cluster: same output, same exit code.

lines.txt holds lines that change nothing (or nothing any more when they run again); each is run by both in any order.
sequence.txt holds lines that do; each kubectl runs them in order, in a namespace of its own.
A line that begins with a version is compared only with a kubectl of at least that version. What is new in every run
(ages, generated names, versions of objects) is put aside.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from pybernetes.tools.kubectl.main import main
from tests.support import require_program
from tests.tools.local.user import User

HERE = Path(__file__).parent
OURS = (1, 37)
NAME = f"same-{os.getpid()}"
_LINE = re.compile(r"(?:(?P<version>\d+\.\d+): )?(?P<text>.+)")
_MADE = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} \w+"), "<time>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r"(\"?resourceVersion\"?: )\"\d+\""), r'\1"<version>"'),
    (re.compile(r"(Resource Version:\s+)\d+"), r"\1<version>"),
    (
        re.compile(
            r"\b(?:\d+y)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?: \(x\d+ over \w+\)| \(\w+ ago\))?(?=\s|$)"
        ),
        "",
    ),
    (re.compile(r"kube-api-access-\w{5}"), "kube-api-access-<name>"),
    (re.compile(r"(same-(?:ours|real))"), "<namespace>"),
    (re.compile(r"\b10\.(?:96|244)\.\d+\.\d+\b"), "<address>"),
    (re.compile(r"[ \t]+"), " "),
    (re.compile(r"-{3,}"), "---"),
]
# What kubectl has changed since the versions that distributions have.
_SINCE = [
    (re.compile(r"^Error: ", re.MULTILINE), "error: "),
    (re.compile(r'^E\d{4} .* "command failed" err="(.*)"$', re.MULTILINE), r"error: \1"),
    (re.compile(r"^\s*creationTimestamp: null\n", re.MULTILINE), ""),
    (re.compile(r"^preferences: {}\n", re.MULTILINE), ""),
]


class Answer(NamedTuple):
    """What a command line did."""

    output: str
    errors: str
    code: int


class Line(NamedTuple):
    """A command line, and the version of kubectl from which on it can be compared."""

    text: str
    version: tuple[int, ...]


def read_lines(name: str, **places: str) -> list[Line]:
    """Return the lines of a file, with places filled in."""
    lines = []
    for raw in (HERE / name).read_text().splitlines():
        if not raw.strip() or raw.startswith("#"):
            continue
        match = _LINE.match(raw)
        assert match is not None
        version = tuple(map(int, match["version"].split("."))) if match["version"] else (0, 0)
        text = match["text"]
        for key, value in places.items():
            text = text.replace(f"{{{key}}}", value)
        lines.append(Line(text, version))
    return lines


class Both:
    """Our kubectl, in this process, and the real one, with the same home."""

    def __init__(self, user: User) -> None:
        self.environment = {**user.environment, "TZ": "UTC"}
        self.version = self._version()

    def _version(self) -> tuple[int, ...]:
        text = json.loads(self.real(["version", "--client", "-o", "json"]).output)["clientVersion"][
            "gitVersion"
        ]
        match = re.match(r"v(\d+)\.(\d+)", text)
        assert match is not None
        version = int(match[1]), int(match[2])
        return version if version > (0, 0) else OURS  # one that was built from source says nothing

    def ours(self, arguments: list[str]) -> Answer:
        """Run ours."""
        out, err = io.StringIO(), io.StringIO()
        code = main(arguments, stdin=io.StringIO(), stdout=out, stderr=err, environment=self.environment)
        return Answer(out.getvalue(), err.getvalue(), code)

    def real(self, arguments: list[str]) -> Answer:
        """Run the real one."""
        done = subprocess.run(
            [os.environ.get("KUBECTL", "kubectl"), *arguments], env=self.environment, text=True, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=120,
        )  # fmt: skip
        return Answer(done.stdout, done.stderr, done.returncode)


def cleaned(answer: Answer, since: bool) -> Answer:
    """Return an answer without what is different in every run; ``since`` puts aside what newer versions print differently."""
    texts = []
    for text in (answer.output, answer.errors):
        if since:
            for pattern, new in _SINCE:
                text = pattern.sub(new, text)
            text = text.replace('\\"', '"') if "required flag(s)" in text else text
            text = without_nulls(text)
        for pattern, new in _MADE:
            text = pattern.sub(new, text)
        texts.append(text)
    return Answer(texts[0], texts[1], answer.code)


def without_nulls(text: str) -> str:
    """Return JSON without creation times that are null, which newer versions leave out."""
    if '"creationTimestamp": null' not in text and '"preferences": {}' not in text:
        return text
    value = json.loads(text, object_hook=lambda value: {key: field for key, field in value.items() if not (key == "creationTimestamp" and field is None) and not (key == "preferences" and not field)})  # fmt: skip
    return json.dumps(value, indent=4) + "\n"


def difference(line: str, ours: Answer, real: Answer, old: bool) -> str:
    """Return what is different, or nothing."""
    if ours == real:
        return ""
    mine, theirs = cleaned(ours, old), cleaned(real, old)
    if mine == theirs:
        return ""
    if (
        sorted(mine.output.split("\n")) == sorted(theirs.output.split("\n"))
        and mine[1:] == theirs[1:]
        and " --list" in line
    ):
        return ""  # Go prints maps in any order
    return f"kubectl {line}\n--- ours ({mine.code})\n{mine.output}{mine.errors}--- real ({theirs.code})\n{theirs.output}{theirs.errors}"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    require_program("kubectl")
    user = User(tmp_path_factory.mktemp("same"))
    try:
        user.pyb("up", NAME, "--hollow", "2")
        kubectls = Both(user)
        for name in ("demo", "same-ours", "same-real"):
            assert kubectls.ours(["create", "namespace", name]).code == 0
        done = kubectls.ours(["-n", "demo", "apply", "-f", str(HERE / "objects.yaml")])
        assert done.code == 0, done
        for target in ("deployment/web", "daemonset/ds", "statefulset/ss"):
            done = kubectls.ours(["-n", "demo", "rollout", "status", target, "--timeout=60s"])
            assert done.code == 0, done
        done = kubectls.ours(["-n", "demo", "wait", "job/job", "--for=condition=Complete", "--timeout=60s"])
        assert done.code == 0, done
        yield kubectls
    finally:
        user.pyb("delete", NAME)


@pytest.mark.slow
def test_lines_that_change_nothing(both: Both) -> None:
    lines = read_lines("lines.txt", objects=str(HERE / "objects.yaml"), node="hollow-0", other="hollow-1")
    compared = [line for line in lines if line.version <= both.version]
    assert len(lines) >= 300 and len(compared) >= 300
    old = both.version < OURS
    with ThreadPoolExecutor(3) as pool:
        pending = [(line.text, pool.submit(both.real, shlex.split(line.text))) for line in compared]
        ours = {line.text: both.ours(shlex.split(line.text)) for line in compared}
        differences = [difference(text, ours[text], future.result(), old) for text, future in pending]
    wrong = [text for text in differences if text]
    assert not wrong, f"{len(wrong)} of {len(compared)} lines differ\n" + "\n".join(wrong)


def test_lines_that_change_things(both: Both) -> None:
    old = both.version < OURS

    def side(run: Callable[[list[str]], Answer], namespace: str) -> list[tuple[Line, Answer]]:
        places = {
            name: str(HERE / f"{name}.yaml") for name in ("objects", "simple", "settled", "stale", "widget")
        }
        lines = read_lines("sequence.txt", **places, ns=namespace)
        return [(line, run(["-n", namespace, *shlex.split(line.text)])) for line in lines]

    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(side, both.real, "same-real")
        sides = side(both.ours, "same-ours"), pending.result()
    differences = [
        difference(ours[0].text, ours[1], real[1], old)
        for ours, real in zip(*sides, strict=True)
        if ours[0].version <= both.version
    ]
    wrong = [text for text in differences if text]
    assert not wrong, "\n".join(wrong)
