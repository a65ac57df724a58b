"""Prints what happens to pods, as it happens.

    python examples/01_watch_pods.py [--kubeconfig FILE] [--namespace NAME]

A watch ends every now and then. It goes on where it was; if the server no longer knows that moment, it starts over.
"""

import argparse
import asyncio

from pybernetes.client import Expired
from pybernetes.client.kubeconfig import load
from pybernetes.client.refs import PODS


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", default="")
    parser.add_argument("--namespace", default="")
    arguments = parser.parse_args()
    version = ""
    async with load(arguments.kubeconfig).client(user_agent="watch-pods") as client:
        while True:
            watch = client.watch(PODS, arguments.namespace, resource_version=version, initial=not version)
            try:
                async with watch:
                    async for type_, pod in watch:
                        if type_ != "BOOKMARK":
                            meta = pod["metadata"]
                            phase = pod["status"].get("phase", "")
                            print(f"{type_:<8} {meta['namespace']}/{meta['name']} {phase}", flush=True)
                version = watch.resource_version
            except Expired:
                version = ""


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
