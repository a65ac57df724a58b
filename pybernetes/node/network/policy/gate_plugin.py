"""The last CNI plugin of a pod: asks the pod network whether the pod's rules are in, and waits for the answer.

This file is installed as a program of its own and imports nothing of the project: each pod waits for its start.
"""

from __future__ import annotations

import os
import socket
import sys

SOCKET = "/run/pybernetes/policy.sock"
_SECONDS = 30.0
_LONGEST = 1 << 20


def main() -> int:
    """Answer the runtime as the CNI specification says."""
    command = os.environ.get("CNI_COMMAND", "")
    if command == "VERSION":
        print('{"cniVersion": "0.4.0", "supportedVersions": ["0.3.0", "0.3.1", "0.4.0"]}')
        return 0
    configuration = sys.stdin.buffer.read(_LONGEST)
    if command != "ADD":  # a pod that goes asks nobody
        return 0
    try:
        answer = ask(os.environ.get("CNI_ARGS", "").encode(), configuration)
    except OSError as error:
        answer = b""
        problem = f"the pod network does not answer: {error}"
    else:
        problem = answer[1:].decode(errors="replace")
    if answer[:1] == b"+":
        sys.stdout.buffer.write(answer[1:])
        return 0
    quoted = problem.replace("\\", "/").replace('"', "'").replace("\n", " ")
    print(f'{{"cniVersion": "0.4.0", "code": 11, "msg": "network policies: {quoted}"}}')
    return 1


def ask(arguments: bytes, configuration: bytes) -> bytes:
    """Return what the pod network answers: + and the result to hand on, or - and a reason."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_SECONDS)
        connection.connect(SOCKET)
        connection.sendall(arguments + b"\n" + configuration)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while len(answer) <= _LONGEST and (part := connection.recv(1 << 16)):
            answer += part
        return answer


if __name__ == "__main__":
    sys.exit(main())
