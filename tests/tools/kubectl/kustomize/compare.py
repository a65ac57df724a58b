"""Trees of files that both kustomizes build: ours in this process, the real one as a program."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pybernetes.tools.kubectl.main import main
from tests.support import require_program

TREES = Path(__file__).parent / "trees"
# What differs from run to run: time and process in a line of a log, and addresses in memory, which ours does not tell.
_MADE = [
    (re.compile(r"^I\d{4} [\d:.]+ +\d+ log\.go:\d+\] ", re.MULTILINE), "<log> "),
    (
        re.compile(r"merging from generator (&\{0x[0-9a-f]+ [^ ]*\}|\w+):"),
        "merging from generator <generator>:",
    ),
]


class Tree(NamedTuple):
    """Files, the flags of the command, and the version of kustomize from which on it can be compared."""

    name: str
    files: dict[str, str]
    arguments: list[str]
    since: tuple[int, ...]

    def write(self, folder: Path) -> None:
        """Make the files."""
        for path, text in self.files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)


class Answer(NamedTuple):
    """What a build printed, and how it ended."""

    output: str
    errors: str
    code: int


@cache
def trees() -> list[Tree]:
    """Return the trees of all text files."""
    base = (TREES / "base.yaml").read_text()
    result = []
    for path in sorted(TREES.glob("*.txt")):
        for part in re.split(r"^=== ", path.read_text(), flags=re.MULTILINE)[1:]:
            title, *rest = re.split(r"^\+\+\+ ", part, flags=re.MULTILINE)
            name, *options = (word.strip() for word in title.strip().split(";"))
            arguments: list[str] = []
            since: tuple[int, ...] = (0, 0)
            for option in options:
                word, _, value = option.partition(" ")
                if word == "args":
                    arguments = value.split()
                else:
                    assert word == "since"
                    since = tuple(map(int, value.split(".")))
            files = dict(section.split("\n", 1) for section in rest)
            files = {path: base if text.strip() == "BASE" else text for path, text in files.items()}
            result.append(Tree(f"{path.stem}: {name}", files, arguments, since))
    return result


@cache
def recorded() -> dict[str, Answer]:
    """Return what v1.37 answered to the trees that older ones do not build alike; FOLDER stands for theirs."""
    return {name: Answer(*parts) for name, parts in json.loads((TREES / "recorded.json").read_text()).items()}


def expected(tree: Tree, folder: Path) -> Answer:
    """Return what the real kubectl makes of a tree, or made of it if the one here is too old for it."""
    if tree.since <= version():
        return real([str(folder), *tree.arguments])
    answer = recorded()[tree.name]
    return Answer(answer.output, answer.errors.replace("FOLDER", str(folder)), answer.code)


def kubectl() -> str:
    """Return the real kubectl."""
    return os.environ.get("KUBECTL") or str(require_program("kubectl"))


@cache
def version() -> tuple[int, ...]:
    """Return the version of the kustomize in the real kubectl."""
    line = [kubectl(), "version", "--client", "-o", "json"]
    text = json.loads(subprocess.run(line, capture_output=True, check=True).stdout)["kustomizeVersion"]
    match = re.match(r"v(\d+)\.(\d+)", text)
    assert match is not None
    return int(match[1]), int(match[2])


# How kubectl told of errors before v1.33: a line of a log, with the message quoted or in lines of its own.
_QUOTED = re.compile(r'^E\d{4} .* "command failed" err=(".*")$', re.MULTILINE)
_LINES = re.compile(r'^E\d{4} .* "command failed" err=<\n((?:\t.*\n)+) >$', re.MULTILINE)


def _settled(text: str) -> str:
    text = re.sub("^Error: ", "error: ", text, flags=re.MULTILINE)
    text = _QUOTED.sub(lambda match: f"error: {json.loads(match[1])}", text)
    text = _LINES.sub(
        lambda match: "error: " + re.sub("^\t", "", match[1], flags=re.MULTILINE).removesuffix("\n"), text
    )
    for pattern, instead in _MADE:
        text = pattern.sub(instead, text)
    return text


def ours(arguments: list[str]) -> Answer:
    """Build with ours."""
    out, err = io.StringIO(), io.StringIO()
    code = main(
        ["kustomize", *arguments], stdin=io.StringIO(), stdout=out, stderr=err, environment=dict(os.environ)
    )
    return Answer(out.getvalue(), _settled(err.getvalue()), code)


def real(arguments: list[str]) -> Answer:
    """Build with the real one."""
    done = subprocess.run(
        [kubectl(), "kustomize", *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    return Answer(done.stdout, _settled(done.stderr), done.returncode)
