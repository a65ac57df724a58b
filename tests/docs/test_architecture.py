"""The pictures of docs/architecture.md have the order of the code."""

import inspect
import re

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
