"""The few calls to a cluster's own API that its commands need, as its administrator."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import tempfile
from urllib.parse import urlsplit

from pybernetes.api.resource import Object
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
        self._context = ssl.create_default_context(cadata=authority)
        with tempfile.NamedTemporaryFile() as file:  # readable by its owner alone
            for key in ("client-certificate-data", "client-key-data"):
                file.write(base64.b64decode(user[key]))
            file.flush()
            self._context.load_cert_chain(file.name)
        self._address = urlsplit(server["server"])

    def call(self, method: str, path: str, seconds: float = 10.0, body: Object | None = None) -> Object:
        """Send one request and return the answer; ApiError if it is refused, OSError if nobody answers."""
        host, port = self._address.hostname or "", self._address.port
        connection = http.client.HTTPSConnection(host, port, context=self._context, timeout=seconds)
        try:
            kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
            if body is None:
                connection.request(method, path)
            else:
                connection.request(method, path, json.dumps(body), {"Content-Type": kind})
            response = connection.getresponse()
            answer = response.read()
        except (
            http.client.HTTPException
        ) as error:  # it ended in the middle of its answer, which is no OSError
            raise ConnectionResetError(f"{method} {path}: {error!r}") from None
        finally:
            connection.close()
        if response.status >= 400:
            try:
                message = json.loads(answer)["message"]
            except (ValueError, KeyError):
                message = f"{method} {path}: {response.status} {response.reason}"
            raise ApiError(response.status, message, response.headers.get("Retry-After", ""))
        return json.loads(answer) if response.headers.get_content_type() == "application/json" else {}

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
