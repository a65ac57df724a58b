"""tests/ mirrors pybernetes/: what a folder tests is found by its place."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Folders for what is not below pybernetes/, and for data.
OTHERS = ("attacks", "bench", "docs", "scripts", "fuzz")


def test_every_folder_of_tests_is_named_after_one_of_code() -> None:
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    mirrored = {folder for folder in folders if folder.parts and folder.parts[0] not in OTHERS}
    assert sorted(str(folder) for folder in mirrored if not (ROOT / "pybernetes" / folder).is_dir()) == []
