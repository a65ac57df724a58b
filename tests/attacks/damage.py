"""A store in which single bits have changed, and one that is gone."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

from tests.attacks._target import Attack, Target

_MAPS = "/api/v1/namespaces/default/configmaps"
_FLIPS = 20


def _data(target: Target, name: str) -> Path:
    folder = target.folder / name
    with target.api_server(folder) as server:
        for number in range(20):
            text = f"marked-{number:02}-" + "abcdefgh" * 20
            body = {"metadata": {"name": f"map-{number:02}"}, "data": {"text": text}}
            assert server.call("POST", _MAPS, body)[0] == 201
    return folder


def _files(folder: Path) -> list[Path]:
    return [path for path in (folder / "store").rglob("*") if path.is_file() and path.stat().st_size]


def _flipped(target: Target) -> str:
    """Change a bit of a value twenty times, in a copy each; what is served has to be right or named as wrong."""
    whole, served, dice = _data(target, "whole"), 0, random.Random(1)
    for number in range(_FLIPS):
        folder = target.folder / "flipped"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        for path in _files(folder):
            data, marker = bytearray(path.read_bytes()), f"marked-{number:02}-".encode()
            place = data.find(marker)
            while place >= 0:
                data[place + len(marker) + dice.randrange(100)] ^= 1
                place = data.find(marker, place + 1)
            path.write_bytes(data)
        try:
            with target.api_server(folder) as server:
                status, text = server.call("GET", f"{_MAPS}/map-{number:02}")
        except RuntimeError:
            continue  # it does not start, and said why
        expected = f"marked-{number:02}-" + "abcdefgh" * 20
        served += status == 200 and json.loads(text)["data"]["text"] != expected
    return f"{served} of {_FLIPS} changed values were served as if nothing were" if served else ""


def _emptied(target: Target) -> str:
    folder = _data(target, "emptied")
    for path in _files(folder):
        if path.stat().st_size > 4096:
            path.unlink()
    try:
        with target.api_server(folder) as server:
            status, text = server.call("GET", _MAPS)
    except RuntimeError:
        return ""
    return f"a store that is gone became an empty cluster ({status}, {len(text)} bytes)"


ATTACKS: dict[str, Attack] = {"9 values with a changed bit": _flipped, "9 a store that is gone": _emptied}
