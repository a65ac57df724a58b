"""The few calls to a cluster's own API that its commands need, as its administrator."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import tempfile

from pybernetes.api.resource import Object
from pybernetes.lib.http.client import HttpClient, RequestFailed
from pybernetes.lib.http.fetching import located
from pybernetes.lib.http.messages import Reply
from pybernetes.tools.local import kubeconfig
from pybernetes.tools.local.paths import Cluster


class ApiError(Exception):
    """The API server refused; the text is its own."""

    def __init__(self, status: int, message: str, retry_after: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after  # the header that says when to ask again


class AdminClient:
    """A cluster's API server, as its administrator sees it."""

    def __init__(self, cluster: Cluster) -> None:
        config = kubeconfig.read(cluster.kubeconfig)
        server, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        authority = base64.b64decode(server["certificate-authority-data"]).decode()
        context = ssl.create_default_context(cadata=authority)
        with tempfile.NamedTemporaryFile() as file:  # readable by its owner alone
            for key in ("client-certificate-data", "client-key-data"):
                file.write(base64.b64decode(user[key]))
            file.flush()
            context.load_cert_chain(file.name)
        self._peer, _ = located(server["server"], context)

    def call(self, method: str, path: str, seconds: float = 10.0, body: Object | None = None) -> Object:
        """Send one request and return the answer; ApiError if it is refused, OSError if nobody answers."""
        reply = asyncio.run(self._ask(method, path, seconds, body))
        if reply.status >= 400:
            try:
                message = json.loads(reply.body)["message"]
            except (ValueError, KeyError, TypeError):
                message = f"{method} {path}: {reply.status}"
            raise ApiError(reply.status, message, reply.header(b"retry-after"))
        return json.loads(reply.body) if reply.header(b"content-type").startswith("application/json") else {}

    async def _ask(self, method: str, path: str, seconds: float, body: Object | None) -> Reply:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        data, headers = (b"", {}) if body is None else (json.dumps(body).encode(), {"Content-Type": kind})
        client = HttpClient()
        try:
            return await client.send(self._peer, method, path, data, headers, seconds)
        except RequestFailed as error:
            raise ConnectionError(str(error)) from None
        finally:
            client.close()

    def is_ready(self) -> bool:
        """Return whether the API server says that it is ready."""
        try:
            self.call("GET", "/readyz", 2.0)
        except (ApiError, OSError):
            return False
        return True

    def ready_nodes(self, since: str = "") -> set[str]:
        """Return the nodes that are ready, none while no API server answers.

        A node that says when it last reported counts only if that is after ``since``.
        """
        try:
            listed = self.call("GET", "/api/v1/nodes")["items"]
        except OSError:
            return set()
        except ApiError as error:
            if error.status < 500 and error.status != 429:
                raise
            return set()
        return {
            node["metadata"]["name"]
            for node in listed
            for condition in node.get("status", {}).get("conditions", ())
            if condition["type"] == "Ready" and condition["status"] == "True"
            if (condition.get("lastHeartbeatTime") or since) >= since
        }
