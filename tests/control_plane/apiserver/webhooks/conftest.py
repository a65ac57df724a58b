"""A program that answers webhooks."""

from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import hooks as hooks
