"""The pictures of docs/architecture.md have the order of the code, and its answers are near."""

import inspect
import re
from pathlib import Path

from pybernetes.control_plane.apiserver.pipeline import pipeline
from tests.docs.references import ROOT

_PAGE = (ROOT / "docs" / "architecture.md").read_text()


def test_the_steps_of_a_request_are_in_their_order() -> None:
    drawn = re.findall(r"^ +pipeline/steps/(\w+)\.py", _PAGE, re.MULTILINE)
    source = inspect.getsource(pipeline)
    files = dict(re.findall(r"^from \S+\.steps\.(\w+) import (.+)$", source, re.MULTILINE))
    file_of = {name: file for file, names in files.items() for name in names.split(", ")}
    listed = re.findall(r"^        (\w+)\(.*\).*,  #", inspect.getsource(pipeline.steps), re.MULTILINE)
    assert drawn == [file_of[name] for name in listed] and len(drawn) > 5


def test_no_answer_is_more_than_three_steps_away() -> None:
    parts = set(re.findall(r"^\| .* \| `([a-z_/]+)` \|", _PAGE, re.MULTILINE)) | {
        "api",
        "tools/kubectl",
        "scheduling",
    }
    answers = re.findall(r"`([a-z_/.]+)`", _PAGE.partition("## Where is …?")[2].partition("\n## ")[0])[1:]
    steps = {}
    for answer in answers:
        part = max((part for part in parts if answer.startswith(f"{part}/")), key=len)
        steps[answer] = len(Path(answer).relative_to(part).parts)
    assert len(steps) > 12 and {answer: count for answer, count in steps.items() if count > 3} == {}
