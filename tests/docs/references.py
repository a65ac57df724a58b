"""What texts for people name: files, folders, links, flags and commands; and whether they are there."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The folders that a path in a text begins with; a path may also begin inside of them ("apiserver/verbs/").
_CODE = ("pybernetes", "tests", "bench", "fuzz", "examples", "scripts", "docs")
_FILE = re.compile(r"^(?:\./)?[\w.-]+(?:/[\w.-]+)*\.(?:py|md|txt|jsonl|toml)$")
_FOLDER = re.compile(r"^[a-z_]\w*(?:/\w+)*/$")
_PATH = re.compile(r"^[a-z_]\w*(?:/\w+)+$")
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-zA-Z0-9-]*[a-zA-Z0-9])")
_SPAN = re.compile(r"`+([^`\n]+)`+")
_LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)")
_PROGRAM = re.compile(r"(?:^|[\s|(`])(?:\./|sudo )*pyb ([a-z][\w-]*)")
_KUBECTL = re.compile(r"(?:^|[\s|(])(?:kubectl|pyb kubectl) ([a-z][\w-]*)")
_BENCH = re.compile(r"pyb bench ([a-z][\w-]*)")


@cache
def paths() -> frozenset[str]:
    """Return every file and folder of the project, folders with a slash at their end."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    files = {file for file in listed if (ROOT / file).exists()}
    folders = {f"{parent}/" for file in files for parent in Path(file).parents if parent.name}
    return frozenset(files | folders)


@cache
def _endings() -> frozenset[str]:
    """Return every way to name a path: its whole, or any part up to its end."""
    endings = set()
    for path in paths():
        words = path.split("/")
        endings |= {"/".join(words[start:]) for start in range(len(words))}
    return frozenset(endings)


@cache
def _folder_names() -> frozenset[str]:
    """Return the names of all folders with code: what a path without an ending may begin with."""
    return frozenset(
        word
        for path in paths()
        if path.endswith("/") and path.startswith(_CODE)
        for word in path.split("/")
        if word
    )


def path_problem(token: str) -> str | None:
    """Return what is wrong with a word that looks like a path of this project; None if nothing is."""
    token = token.removeprefix("./")
    if _FILE.match(token):
        # What is not ours has a folder that we do not have, or none of our endings: config.toml of containerd.
        ours = token.endswith(".py") or (token.endswith(".md") and "/" in token)
        return None if not ours or token in _endings() else f"no file {token}"
    if _FOLDER.match(token):
        first = token.split("/")[0]
        known = token in _endings() or first not in _folder_names()
        return None if known else f"no folder {token}"
    if _PATH.match(token) and token.split("/")[0] in (*_CODE, "lib", "control_plane", "runtime", "tools"):
        known = f"{token}/" in _endings() or f"{token}.py" in _endings() or token in _endings()
        return None if known else f"no file or folder {token}"
    return None


@cache
def _words_of_code() -> frozenset[str]:
    """Return every text in the code that can be the name of a flag."""
    words: set[str] = set()
    for path in paths():
        if path.endswith(".py") and path.startswith(("pybernetes/", "bench/", "fuzz/", "examples/")):
            for node in ast.walk(ast.parse((ROOT / path).read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
                    words.update(word.lstrip("-") for word in re.findall(r"[\w-]+", node.value))
    for path in (
        "pyb",
        *(file for file in paths() if file.startswith("scripts/") and not file.endswith("/")),
    ):
        words.update(re.findall(r"--([\w-]+)", (ROOT / path).read_text()))
    return frozenset(words)


# Flags of programs that are not ours, where a page speaks of them.
_FOREIGN_FLAGS = {
    **dict.fromkeys(("focus", "skip", "procs"), "ginkgo"),
    **dict.fromkeys(
        ("provider", "num-nodes", "allowed-not-ready-nodes", "minStartupPods", "kubectl-path"), "e2e.test"
    ),
}


def flag_problems(text: str) -> Iterator[str]:
    """Yield the flags in a text that no program of ours has."""
    for match in _FLAG.finditer(text):
        if match[1] in _FOREIGN_FLAGS:
            continue
        if match[1] not in _words_of_code() and match[1].replace("-", "_") not in _words_of_code():
            yield f"no flag --{match[1]}"


def names_in(folder: str) -> frozenset[str]:
    """Return the names that the files and folders right below a folder stand for."""
    entries = (ROOT / folder).iterdir()
    return frozenset(
        entry.stem.rstrip("_").replace("_", "-") for entry in entries if entry.stem[0] not in "_."
    )


def command_problems(text: str) -> Iterator[str]:
    """Yield the programs and commands in a text that do not exist."""
    for match in _PROGRAM.finditer(text):
        if match[1] not in names_in("pybernetes/cmd"):
            yield f"no program pyb {match[1]}"
    for match in _KUBECTL.finditer(text):
        if match[1] not in names_in("pybernetes/tools/kubectl/commands"):
            yield f"no command kubectl {match[1]}"
    for match in _BENCH.finditer(text):
        if match[1] not in names_in("bench"):
            yield f"no benchmark {match[1]}"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as the web shows them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def link_problem(page: Path, target: str) -> str | None:
    """Return what is wrong with a link; None if it leads somewhere, or out of the project."""
    if "://" in target or target.startswith("mailto:"):
        return None
    file, _, anchor = target.partition("#")
    path = (page.parent / file).resolve() if file else page
    if not path.exists():
        return f"no {target} to link to"
    if anchor and path.suffix == ".md" and anchor not in anchors(path):
        return f"no heading for {target}"
    return None


def page_problems(page: Path) -> Iterator[str]:
    """Yield everything that a page names and that is not there, with its line."""
    block = False
    foreign = False  # inside a block that shows a command of somebody else
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            block, foreign = not block, False
            continue
        problems: list[str | None] = [link_problem(page, target) for target in _LINK.findall(line)]
        spans = [line] if block else _SPAN.findall(line)
        for span in spans:
            if block:
                foreign = is_foreign(span) or (foreign and line.startswith(" "))
            if foreign or is_foreign(span):
                continue
            problems += [path_problem(word.strip("`,;:()")) for word in span.split()]
            problems += flag_problems(span)
            problems += command_problems(span)
        yield from (f"{page.relative_to(ROOT)}:{number}: {problem}" for problem in problems if problem)


_OTHERS = ("apt-get", "curl", "docker", "etcd", "etcdctl", "git", "helm", "ip", "iptables", "nft", "openssl", "pip", "pytest",
           "python", "systemctl", "ruff", "mypy", "e2e.test", "wrk", "FUZZ_EXAMPLES")  # fmt: skip


def is_foreign(command: str) -> bool:
    """Return whether a line runs a program of somebody else, whose flags are not ours."""
    words = [word for word in command.replace("$ ", "").split() if word != "sudo"]
    return bool(words) and words[0].split("=")[0] in _OTHERS


def comments_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments and docstrings of a module, line by line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                for offset, line in enumerate(str(first.value.value).splitlines()):
                    yield first.lineno + offset, line


_NAMED = re.compile(
    r"(?<![\w/.<>*{-])((?:[\w.-]+/)*[\w-]+\.py|(?<=``)[a-z_]\w*/(?=``)|(?<=[Ss]ee )[a-z_]\w*/)(?![\w/])"
)


def source_problems(path: Path) -> Iterator[str]:
    """Yield the files and folders that comments and docstrings of a module name and that are not there."""
    source = path.read_text()
    if not _NAMED.search(source):  # nearly all: reading comments takes long
        return
    for number, line in comments_of(source):
        for match in _NAMED.finditer(line):
            problem = path_problem(match[1])
            if problem:
                yield f"{path.relative_to(ROOT)}:{number}: {problem}"
