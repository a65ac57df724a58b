"""Certificates of a control plane that get old: how long they last, and new ones with the same names."""

from __future__ import annotations

import base64
import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pybernetes.api.field import Errors
from pybernetes.api.field import Path as Field
from pybernetes.api.resource import Object
from pybernetes.api.text import durations
from pybernetes.client import kubeconfig
from pybernetes.client import kubeconfig_files as reading
from pybernetes.tools.kubeadm import certificate_files as files
from pybernetes.tools.kubeadm import cluster_settings, kubeconfig_files, output
from pybernetes.tools.kubeadm.certificate_list import BY_NAME, CERTIFICATES, Subject, wanted
from pybernetes.tools.kubeadm.command_line import Arguments
from pybernetes.tools.kubeadm.configuration import defaults, documents, loading, validation, validation_parts
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.objects import ClusterObjects

# Kubeconfigs with a certificate in them, and whose they are.
_CONFIGS = {
    "admin.conf": "for the admin to use and for kubeadm itself",
    "controller-manager.conf": "for the controller manager to use",
    "scheduler.conf": "for the scheduler manager to use",
    "super-admin.conf": "for the super-admin",
}


@dataclass
class Place:
    """Where the certificates are, and what the configuration says of them."""

    subject: Subject
    port: int
    certificates: Path
    kubernetes: Path


@dataclass(frozen=True, slots=True)
class Expiration:
    """When one certificate ends; None if there is none."""

    name: str
    end: datetime.datetime | None
    authority: str
    is_authority: bool = False
    external: bool = False  # the authority's key is not here: who has it renews

    def left(self) -> float:
        """Return the seconds until then."""
        return (self.end - datetime.datetime.now(datetime.UTC)).total_seconds() if self.end else 0.0


async def place(arguments: Arguments, purpose: str = "") -> Place:
    """Return where the certificates are: as a file says, or the cluster if it is asked for a purpose, or by default."""
    kubernetes = Path(arguments.kubeconfig_dir)
    own: Object = {}
    cluster: Object | None = None
    if arguments.config:
        given = documents.read(documents.read_own(arguments.config)).own
        own, cluster = given.get("InitConfiguration") or {}, given.get("ClusterConfiguration") or {}
        cluster = defaults.cluster(cluster)
    elif purpose and Path(arguments.kubeconfig).exists():
        cluster_settings.announce(purpose)
        try:
            async with kubeconfig.load(Path(arguments.kubeconfig)).client(user_agent="kubeadm") as client:
                cluster = await cluster_settings.cluster_configuration(ClusterObjects(client, 5.0))
        except (kubeconfig.ConfigError, KubeadmError, OSError) as error:
            say(
                f"[{purpose}] Error reading configuration from the cluster. Falling back to default configuration: {error}"
            )
        say("")
    init = defaults.init(own)
    endpoint = loading.endpoint(init["localAPIEndpoint"])
    cluster = cluster or defaults.cluster({})
    loading.complete_cluster(cluster, endpoint)
    node = loading.registration({**init["nodeRegistration"], "criSocket": "unix:///"}, control_plane=True)[
        "name"
    ]
    folder = Path(arguments.cert_dir or cluster["certificatesDir"])
    errors = Errors()
    validation_parts.absolute_path(errors, str(folder), Field("certificatesDir"))
    validation.check(errors)
    return Place(
        Subject(cluster, node, endpoint["advertiseAddress"]), endpoint["bindPort"], folder, kubernetes
    )


def names() -> list[str]:
    """Return what can be renewed."""
    leaves = [certificate.name for certificate in CERTIFICATES if certificate.authority]
    return sorted([*_CONFIGS, *leaves])


def all_names(where: Place) -> list[str]:
    """Return what is renewed when everything is; an etcd that is not ours has certificates that are not ours either."""
    ours = {certificate.name for certificate in wanted(where.subject)}
    return [name for name in names() if name in _CONFIGS or name in ours]


def long_name(name: str) -> str:
    """Return what something is that can be renewed."""
    return (
        f"certificate embedded in the kubeconfig file {_CONFIGS[name]}"
        if name in _CONFIGS
        else BY_NAME[name].long_name
    )


def expirations(where: Place) -> list[Expiration]:
    """Return when everything ends: kubeconfigs and certificates first, then authorities."""
    listed = []
    for name in names():
        if name in _CONFIGS:
            end = _config_end(where.kubernetes / name)
            listed.append(Expiration(name, end, "ca", external=_external(where, "ca")))
        elif BY_NAME[name] in wanted(where.subject):
            certificate = BY_NAME[name]
            end, authority = _end(where.certificates / f"{certificate.base}.crt"), certificate.authority
            listed.append(Expiration(name, end, authority, external=_external(where, authority)))
    for certificate in sorted(wanted(where.subject), key=lambda entry: entry.name):
        if not certificate.authority:
            end, external = (
                _end(where.certificates / f"{certificate.base}.crt"),
                _external(where, certificate.name),
            )
            listed.append(Expiration(certificate.name, end, "", True, external))
    return listed


def _external(where: Place, authority: str) -> bool:
    return not (where.certificates / f"{BY_NAME[authority].base}.key").exists()


def _end(path: Path) -> datetime.datetime | None:
    certificate = files.read_certificate(path)
    return certificate.not_valid_after_utc if certificate else None


def _config_end(path: Path) -> datetime.datetime | None:
    from cryptography import x509

    if not path.exists():
        return None
    user = reading.read(path)["users"][0]["user"]
    data = user.get("client-certificate-data")
    return x509.load_pem_x509_certificate(base64.b64decode(data)).not_valid_after_utc if data else None


def as_value(listed: list[Expiration]) -> Object:
    """Return what ends when, as upstream's object."""

    def entries(authorities: bool) -> list[Object]:
        return [
            {
                "name": entry.name,
                "expirationDate": entry.end.strftime("%Y-%m-%dT%H:%M:%SZ") if entry.end else None,
                "residualTime": int(entry.left()),
                "externallyManaged": bool(entry.end) and entry.external,
                **({"caName": entry.authority} if entry.authority and entry.end else {}),
                "missing": entry.end is None,
            }
            for entry in listed
            if entry.is_authority == authorities
        ]

    lists = {"certificates": entries(False), "certificateAuthorities": entries(True)}
    return output.typed("CertificateExpirationInfo", lists)


def table(value: Object) -> str:
    """Return what ends when, for people."""
    head = ("CERTIFICATE", "EXPIRES", "RESIDUAL TIME", "CERTIFICATE AUTHORITY", "EXTERNALLY MANAGED")
    more = ("CERTIFICATE AUTHORITY", "EXPIRES", "RESIDUAL TIME", "EXTERNALLY MANAGED")
    rows = [_row(entry, authorities=False) for entry in value["certificates"]]
    others = [_row(entry, authorities=True) for entry in value["certificateAuthorities"]]
    return output.table([head, *rows, ("",), more, *others])


def _row(entry: Object, *, authorities: bool) -> tuple[str, ...]:
    if entry["missing"]:
        return (f"!MISSING! {entry['name']}", *[""] * (3 if authorities else 4))
    end = datetime.datetime.fromisoformat(entry["expirationDate"]).strftime("%b %d, %Y %H:%M UTC")
    left = durations.human_duration(entry["residualTime"])
    external = f"{'yes' if entry['externallyManaged'] else 'no':<8}"
    authority = () if authorities else (entry.get("caName", ""),)
    return (entry["name"], end, left, *authority, external)


def renew(where: Place, name: str) -> str:
    """Make a new certificate with the names of the old one; return what was done, or why nothing was."""
    if name in _CONFIGS:
        return _renew_config(where, name)
    certificate = BY_NAME[name]
    old = files.read_certificate(where.certificates / f"{certificate.base}.crt")
    if old is None:
        return _absent(name)
    authority = files.read_pair(where.certificates, BY_NAME[certificate.authority].base)
    if authority is None:
        return _not_ours(name, certificate.authority)
    made = files.issue(
        authority, _common_name(old), algorithm=where.subject.cluster["encryptionAlgorithm"],
        seconds=durations.parse_duration(where.subject.cluster["certificateValidityPeriod"]),
        organizations=_organizations(old), names=sorted(files.alternative_names(old)), server=certificate.server,
        client=certificate.client,
    )  # fmt: skip
    files.write_pair(where.certificates, certificate.base, made)
    return f"{certificate.long_name} renewed"


def _absent(name: str) -> str:
    return f"MISSING! {long_name(name)}"


def _not_ours(name: str, authority: str) -> str:
    return f"Detected external {BY_NAME[authority].base}, {long_name(name)} can't be renewed"


def _common_name(certificate: Any) -> str:
    from cryptography.x509.oid import NameOID

    return str(certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)


def _organizations(certificate: Any) -> tuple[str, ...]:
    from cryptography.x509.oid import NameOID

    return tuple(
        str(entry.value) for entry in certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    )


def _renew_config(where: Place, name: str) -> str:
    from cryptography import x509

    path = where.kubernetes / name
    if not path.exists():
        return _absent(name)
    config = reading.read(path)
    user = config["users"][0]["user"]
    if "client-certificate-data" not in user:
        raise KubeadmError(f"failed to renew certificate {name}: {path} has no certificate in it")
    old = x509.load_pem_x509_certificate(base64.b64decode(user["client-certificate-data"]))
    authority = files.read_pair(where.certificates, "ca")
    if authority is None:
        return _not_ours(name, "ca")
    made = files.issue(
        authority, _common_name(old), algorithm=where.subject.cluster["encryptionAlgorithm"],
        seconds=durations.parse_duration(where.subject.cluster["certificateValidityPeriod"]),
        organizations=_organizations(old), client=True,
    )  # fmt: skip
    config["users"][0]["user"] = kubeconfig_files.certificate_user(made)
    kubeconfig_files.write(path, config)
    return f"{long_name(name)} renewed"
