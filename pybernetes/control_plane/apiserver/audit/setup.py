"""From the command line to the auditor."""

from __future__ import annotations

import logging
from argparse import Namespace

from pybernetes.control_plane.apiserver.audit import policy
from pybernetes.control_plane.apiserver.audit.auditor import Auditor, Backend
from pybernetes.control_plane.apiserver.audit.backends import log as log_backend
from pybernetes.control_plane.apiserver.audit.backends import webhook
from pybernetes.lib.flags import Flag
from pybernetes.lib.http.dialer import Dialer

log = logging.getLogger(__name__)
FLAGS = (
    Flag("audit-policy-file", "", "file that says how much is noted of which requests"),
    *log_backend.FLAGS,
    *webhook.FLAGS,
)


def auditor(given: Namespace, dialer: Dialer | None = None) -> Auditor | None:
    """Return the auditor that the flags ask for; None without a policy or without a backend. ValueError if they are wrong."""
    backends: list[Backend] = [
        backend for backend in (log_backend.build(given), webhook.build(given, dialer)) if backend is not None
    ]
    if not given.audit_policy_file:
        if backends:
            log.warning("no audit policy file provided, no events will be recorded")
        return None
    rules = policy.load(given.audit_policy_file)
    return Auditor(rules, backends) if backends else None
