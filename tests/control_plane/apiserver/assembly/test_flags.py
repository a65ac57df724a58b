"""A store driver, an admission plugin, an authenticator and an authorization mode, added by adding files only."""

from __future__ import annotations

import asyncio
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pybernetes.api.resource import Object
from pybernetes.cmd.kube_apiserver import parser
from pybernetes.control_plane.apiserver.admission import plugins
from pybernetes.control_plane.apiserver.assembly import setup
from pybernetes.control_plane.apiserver.assembly.flags import groups
from pybernetes.control_plane.apiserver.assembly.settings import Settings
from pybernetes.control_plane.apiserver.authn import authenticators
from pybernetes.control_plane.apiserver.authz import modes
from pybernetes.control_plane.store import drivers
from tests.added_files import added_file
from tests.cluster import Cluster

DRIVER = """
    from pathlib import Path

    from pybernetes.control_plane.store.driver import Driver
    from pybernetes.control_plane.store.drivers.memory import MemoryStore
    from pybernetes.lib.flags import Flag


    class Notebook(MemoryStore):
        def __init__(self, path, **options):
            super().__init__(**options)
            self._path = Path(path)

        async def create(self, key, value, *, ttl=0):
            with self._path.open("a") as file:
                print(key, file=file)
            return await super().create(key, value, ttl=ttl)


    DRIVER = Driver(
        "notebook",
        lambda arguments, options: Notebook(arguments.notebook_file, **options),
        (Flag("notebook-file", "", "where the keys of new objects are written down"),),
        implied_by="notebook-file",
    )
"""
PLUGIN = """
    from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope
    from pybernetes.lib.flags import Flag


    class TeamLabel(Plugin):
        name = "TeamLabel"
        order = 105
        flags = (Flag("team-label", "none", "the team that new objects belong to"),)
        scope = Scope(resources=("configmaps",))

        def __init__(self, inputs):
            self._team = inputs.arguments.team_label

        def mutate(self, attributes):
            attributes.obj["metadata"].setdefault("labels", {})["team"] = self._team


    PLUGIN = TeamLabel
"""
AUTHENTICATOR = """
    from pybernetes.control_plane.apiserver.authn.authenticator import Authenticator
    from pybernetes.control_plane.apiserver.authn.user import authenticated
    from pybernetes.lib.flags import Flag


    def requests(inputs):
        badge = inputs.arguments.badge.encode()

        def authenticate(request):
            return authenticated("guest") if badge and request.headers.get(b"x-badge") == badge else None

        return authenticate


    AUTHENTICATOR = Authenticator(
        order=5, flags=(Flag("badge", "", "what guests show in the header X-Badge"),), for_requests=requests
    )
"""
MODE = """
    from pybernetes.control_plane.apiserver.authz.authorizer import Mode
    from pybernetes.control_plane.apiserver.authz.verdict import ALLOWED, NO_OPINION, Rules
    from pybernetes.lib.flags import Flag


    class Guests:
        name = "Guests"

        def __init__(self, resource):
            self._resource = resource

        def start(self):
            pass

        def authorize(self, user, info):
            return ALLOWED if user.name == "guest" and info.resource == self._resource else NO_OPINION

        def rules(self, user, namespace):
            return Rules()


    MODE = Mode(
        "Guests",
        lambda context, arguments: Guests(arguments.guests_resource),
        (Flag("guests-resource", "pods", "what guests may use"),),
    )
"""
FLAGS = ("--notebook-file", "--team-label", "--badge", "--guests-resource")


@pytest.fixture
def extended(tmp_path: Path) -> Iterator[None]:
    """Yield one new file for each of the four folders."""
    added = (
        (drivers, "notebook", DRIVER),
        (plugins, "team_label", PLUGIN),
        (authenticators, "badge", AUTHENTICATOR),
        (modes, "guests", MODE),
    )
    with ExitStack() as stack:
        for package, name, text in added:
            folder = tmp_path / name
            folder.mkdir()
            stack.enter_context(added_file(package.__name__, folder, name, text))
        yield


def post(url: str, badge: str, obj: Object) -> Object:
    """Create an object as someone who shows a badge."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    headers = {"Content-Type": "application/json", "X-Badge": badge}
    request = urllib.request.Request(url, json.dumps(obj).encode(), headers)
    try:
        with urllib.request.urlopen(request, context=context) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        return json.load(error)


async def test_new_files_are_all_that_it_takes(extended: None, tmp_path: Path) -> None:
    notebook = tmp_path / "keys"
    flags = (
        "--storage-backend=",
        f"--notebook-file={notebook}",
        "--enable-admission-plugins=TeamLabel",
        "--team-label=blue",
        "--badge=b4dge",
        "--authorization-mode=Guests,RBAC",
        "--guests-resource=configmaps",
    )
    async with Cluster(*flags) as cluster:
        namespace = f"{cluster.url}/api/v1/namespaces/default"
        made = await asyncio.to_thread(
            post, f"{namespace}/configmaps", "b4dge", {"metadata": {"name": "by-a-guest"}}
        )
        assert made["metadata"]["labels"] == {"team": "blue"}
        secret = {"metadata": {"name": "by-a-guest"}}
        refused = await asyncio.to_thread(post, f"{namespace}/secrets", "b4dge", secret)
        assert (refused["code"], refused["message"].split("User ")[1].split()[0]) == (403, '"guest"')
        refused = await asyncio.to_thread(post, f"{namespace}/configmaps", "forged", secret)
        assert '"system:anonymous"' in refused["message"]
    assert "/registry/configmaps/default/by-a-guest" in notebook.read_text().splitlines()


def test_their_flags_are_in_the_help(extended: None) -> None:
    text = parser().format_help()
    assert all(flag in text for flag in FLAGS)
    assert "notebook" in text and "Guests" in text


def test_every_flag_is_declared_once() -> None:
    names = [flag.name for group in groups().values() for flag in group]
    assert len(names) == len(set(names))
    assert not {flag.removeprefix("--") for flag in FLAGS} & set(names)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--storage-backend=redis"], "--storage-backend: unknown storage backend 'redis': choose one of etcd"),
        (["--storage-backend=memory", "--data-dir=/x"], "--data-dir is not an option of --storage-backend=memory"),
        (["--data-dir=/x", "--etcd-servers=http://a"], "--data-dir is not an option of --storage-backend=etcd3"),
        (["--etcd-certfile=/x"], "--etcd-certfile is not an option of --storage-backend=sqlite"),
        (["--storage-backend=etcd3"], "--storage-backend=etcd3 needs --etcd-servers"),
        (["--etcd-servers=http://a", "--etcd-prefix=/other"], "--etcd-prefix: only /registry is supported"),
    ],
)  # fmt: skip
def test_options_that_a_driver_does_not_take_are_refused(given: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        setup.store(parser().parse_args(given), Settings())


def test_flags_of_a_mode_that_is_not_chosen_are_refused(extended: None, tmp_path: Path) -> None:
    given = [f"--cert-dir={tmp_path}", "--guests-resource=configmaps"]
    with pytest.raises(ValueError, match="--guests-resource needs --authorization-mode=Guests"):
        setup.settings(parser().parse_args(given))
