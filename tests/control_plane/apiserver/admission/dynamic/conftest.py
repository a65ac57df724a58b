"""A server, a namespace in it, and a program that answers webhooks."""

from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import hooks as hooks
from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import namespace as namespace
from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import server as server
