"""Webhook: another server, which a kubeconfig names, says what users may."""

from __future__ import annotations

import argparse

from pybernetes.control_plane.apiserver.authz.authorizer import Mode
from pybernetes.control_plane.apiserver.authz.configuration import WebhookSettings
from pybernetes.control_plane.apiserver.authz.webhook.webhook_authorizer import WebhookAuthorizer
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.review_webhooks import kubeconfig
from pybernetes.control_plane.apiserver.review_webhooks.reviewer import Reviewer
from pybernetes.lib.flags import Flag, Seconds

FLAGS = (
    Flag("authorization-webhook-config-file", "", "kubeconfig of the server that is asked"),
    Flag("authorization-webhook-version", "v1beta1", "version of the reviews that are sent to it"),
    Flag("authorization-webhook-cache-authorized-ttl", Seconds(300), "how long a yes is remembered"),
    Flag("authorization-webhook-cache-unauthorized-ttl", Seconds(30), "how long a no is remembered"),
)
_VERSIONS = ("v1", "v1beta1")


def authorizer(context: ServerContext, settings: WebhookSettings) -> WebhookAuthorizer:
    """Return the authorizer of a webhook; ValueError if its kubeconfig makes no sense."""
    remote = kubeconfig.load(settings.connection, context.nodes.control_plane)
    version = f"authorization.k8s.io/{settings.version}"
    reviewer = Reviewer(remote, context.https, version, "SubjectAccessReview", settings.seconds)
    return WebhookAuthorizer(
        reviewer, context.authorization.webhook_metrics, webhook=settings.name,
        authorized_seconds=settings.authorized_seconds, unauthorized_seconds=settings.unauthorized_seconds,
        denies=settings.denies, conditions=settings.conditions,
    )  # fmt: skip


def check(arguments: argparse.Namespace) -> None:
    """Raise ValueError if the flags make no sense for a server that asks a webhook."""
    if not arguments.authorization_webhook_config_file:
        raise ValueError("authorization-mode Webhook's authorization config file not passed")
    if arguments.authorization_webhook_version not in _VERSIONS:
        raise ValueError(
            f'unsupported webhook authorizer version "{arguments.authorization_webhook_version}", '
            'supported versions are "v1", "v1beta1"'
        )
    kubeconfig.load(arguments.authorization_webhook_config_file)


def build(context: ServerContext, arguments: argparse.Namespace) -> WebhookAuthorizer:
    """Return the authorizer that the flags ask for."""
    settings = WebhookSettings(
        "default",
        arguments.authorization_webhook_config_file,
        arguments.authorization_webhook_version,
        authorized_seconds=arguments.authorization_webhook_cache_authorized_ttl,
        unauthorized_seconds=arguments.authorization_webhook_cache_unauthorized_ttl,
    )
    return authorizer(context, settings)


MODE = Mode("Webhook", build, FLAGS, check)
