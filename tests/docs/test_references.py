"""Pages, docstrings and comments name only files, folders, flags, commands and links that exist."""

from pathlib import Path

import pytest

from tests.docs import references
from tests.docs.references import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_true(page: Path) -> None:
    assert list(references.page_problems(page)) == []


def test_every_page_is_linked_to() -> None:
    texts = {page: page.read_text() for page in PAGES}
    lonely = [
        page.name
        for page in (ROOT / "docs").glob("*.md")
        if not any(page.name in text for other, text in texts.items() if other != page)
    ]
    assert lonely == []


def test_comments_and_docstrings_are_true() -> None:
    modules = [ROOT / path for path in sorted(references.paths()) if path.endswith(".py")]
    assert [problem for module in modules for problem in references.source_problems(module)] == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("`lib/discover.py` and `discover.py`", 0),
        ("`lib/no_such_file.py`", 1),
        ("`control_plane/store` holds it", 0),
        ("`control_plane/no_such_room`", 1),
        ("`apiserver/verbs/` has them", 0),
        ("`apiserver/no_such_room/`", 1),
        ("`apps/v1` is a version", 0),
        ("`--bind-address=127.0.0.1`", 0),
        ("`--no-such-flag-anywhere`", 1),
        ("`curl --no-such-flag-anywhere`", 0),
        ("`pyb kube-apiserver`", 0),
        ("`pyb no-such-program`", 1),
        ("`kubectl get pods`", 0),
        ("`kubectl frobnicate`", 1),
        ("`pyb bench api`", 0),
        ("`pyb bench nothing`", 1),
        ("[here](references.py)", 0),
        ("[there](no_such_page.md)", 1),
        ("[elsewhere](https://example.com/x)", 0),
        ("[heading](#a-heading)\n\n# A heading", 0),
        ("[heading](#another)\n\n# A heading", 1),
        ("```\npyb no-such-program\n```", 1),
    ],
)
def test_what_is_found(text: str, count: int) -> None:
    page = ROOT / "tests" / "docs" / f"page-{abs(hash(text))}.md"
    page.write_text(text)
    try:
        assert len(list(references.page_problems(page))) == count
    finally:
        page.unlink()


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('"""See lib/discover.py."""', 0),
        ('"""See lib/no_such_file.py."""', 1),
        ("x = 1  # see no_such_folder/", 0),
        ("# apiserver/no_such.py does that", 1),
        ("def f():\n    '''Like ``no_such_module.py``.'''", 1),
    ],
)
def test_what_is_found_in_code(source: str, count: int, tmp_path: Path) -> None:
    problems = [
        references.path_problem(match[1])
        for _, line in references.comments_of(source)
        for match in references._NAMED.finditer(line)
    ]
    assert len([problem for problem in problems if problem]) == count
