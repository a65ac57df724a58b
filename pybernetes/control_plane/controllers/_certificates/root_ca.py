"""The certificate authority of the API server, as ``--root-ca-file`` names it."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from cryptography import x509

from pybernetes.lib.flags import Flag

ROOT_CA_FILE = Flag(
    "root-ca-file",
    "",
    "certificate authority that is put into the secrets of service account tokens and into every namespace",
)


def read(options: Namespace) -> str:
    """Return the certificates as text; raise ValueError for a file without any.

    Without a file it is what the manager itself trusts, if the manager said so.
    """
    if not options.root_ca_file:
        return getattr(options, "root_ca_data", "")
    data = Path(options.root_ca_file).read_bytes()
    try:
        x509.load_pem_x509_certificates(data)
    except ValueError as error:
        raise ValueError(f"error parsing root-ca-file at {options.root_ca_file}: {error}") from error
    return data.decode()
