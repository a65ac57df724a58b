"""Seeds and inputs that failed: small files, a folder for each target."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fuzz.engine.target import Target

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "fuzz" / "corpus"


def inputs(name: str, target: Target, folder: Path = CORPUS) -> list[bytes]:
    """Return the seeds of a target and everything that its folder holds, always in the same order."""
    files = sorted(path for path in (folder / name).glob("*") if path.is_file())
    return [*target.seeds, *(path.read_bytes() for path in files)] or [b""]


def save(name: str, data: bytes, folder: Path) -> Path:
    """Keep an input that failed; return its file."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"crash-{hashlib.sha256(data).hexdigest()[:16]}"
    path.write_bytes(data)
    return path
