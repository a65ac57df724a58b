"""A program that answers webhooks, and a server that asks it."""

from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import hooks as hooks
from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import namespace as namespace
from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import server as server
