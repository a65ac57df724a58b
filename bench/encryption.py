"""pyb bench encryption: what encrypting Secrets takes from the rate at which an API server creates them."""

import argparse
import asyncio
import base64
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from bench.harness.inprocess_server import inprocess_server
from bench.pipeline import Caller

SUMMARY = (
    "encryption at rest: Secrets created per second of processor time, with and without; needs no server"
)
PROVIDERS = ("identity", "aesgcm", "aescbc", "secretbox")
AT_ONCE = 64
SECRETS = "/api/v1/namespaces/default/secrets"


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json; fail when aesgcm costs more than the limit."""
    parser = argparse.ArgumentParser(prog="pyb bench encryption", description=__doc__)
    parser.add_argument("--secrets", type=int, default=10_000, help="how many Secrets to write")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, in turns; the best of each counts")
    parser.add_argument(
        "--limit", type=float, default=15.0, help="most percent of the rate that aesgcm costs"
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    rates: dict[str, float] = dict.fromkeys(PROVIDERS, 0.0)
    for _ in range(options.rounds):
        for provider in PROVIDERS:
            rates[provider] = max(rates[provider], asyncio.run(_rate(provider, options.secrets)))
    costs = {name: 100 * (1 - rate / rates["identity"]) for name, rate in rates.items()}
    if options.json:
        print(json.dumps({"secrets": options.secrets, "per_second": rates, "percent": costs}))
    else:
        for name, rate in rates.items():
            print(f"{name:<12}{rate:10.0f} per second{costs[name]:8.1f} %")
    if costs["aesgcm"] > options.limit:
        print(f"pyb bench encryption: over the limit of {options.limit} %", file=sys.stderr)
        return 1
    return 0


async def _rate(provider: str, count: int) -> float:
    """Return how many Secrets an API server creates in a second of processor time, so many at once."""
    settings = {} if provider == "identity" else {
        "keys": [{"name": "key1", "secret": base64.b64encode(os.urandom(32)).decode()}]
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "encryption.json"
        entry = {"resources": ["secrets"], "providers": [{provider: settings}]}
        head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration"}
        file.write_text(json.dumps({**head, "resources": [entry]}))
        flags = (
            "--storage-backend=sqlite",
            f"--data-dir={name}/data",
            f"--encryption-provider-config={file}",
        )
        async with inprocess_server(*flags) as server:
            caller, numbers = Caller(server), iter(range(count))

            async def write() -> None:
                for number in numbers:
                    await caller.call("POST", SECRETS, _secret(number))

            begin = time.process_time()
            await asyncio.gather(*(write() for _ in range(AT_ONCE)))
            return count / (time.process_time() - begin)


def _secret(number: int) -> dict[str, object]:
    """Return a Secret of about a kilobyte."""
    return {"metadata": {"name": f"secret-{number}"}, "data": {"password": "c2VjcmV0" * 100}}
