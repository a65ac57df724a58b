"""Envoy's resources: what others wrote stays data in them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.envoy import clusters
from pybernetes.control_plane.gateway.envoy.api_pool import message_class
from pybernetes.control_plane.gateway.envoy.messages import CLUSTER, LISTENER, ROUTES, SECRET, message
from pybernetes.control_plane.gateway.envoy.resources import resources
from pybernetes.control_plane.gateway.envoy.routes import route_configuration
from pybernetes.control_plane.gateway.model import (
    Action,
    Backend,
    Chain,
    Changes,
    Cluster,
    Cors,
    Entry,
    HeaderChanges,
    Match,
    Mirror,
    Order,
    Port,
    Redirect,
    Replacement,
    Rewrite,
    Route,
)

_CLUSTER = Cluster("default", "s", "web", 80)


def _one(match: Match, action: Action, port: int = 80) -> Any:
    """Return the message of a single route."""
    made = route_configuration("r", {"*": [Route(match, action, Order("", ""))]}, port=port, is_tls=False)
    return made.virtual_hosts[0].routes[0]


@pytest.mark.parametrize(
    ("path", "field", "value"),
    [("/", "prefix", "/"), ("/a", "path_separated_prefix", "/a"), ("/a/", "path_separated_prefix", "/a")],
)
def test_prefixes_end_where_a_part_of_the_path_ends(path: str, field: str, value: str) -> None:
    assert getattr(_one(Match("prefix", path), Action()).match, field) == value


def test_values_of_headers_are_no_commands_of_the_proxy() -> None:
    changes = Changes(request=HeaderChanges(set=(("a", "%ENVIRONMENT(KEY)% 100%"),), remove=("b",)))
    route = _one(Match(), Action((Backend("c"),), changes))
    assert route.request_headers_to_add[0].header.value == "%%ENVIRONMENT(KEY)%% 100%%"
    assert list(route.request_headers_to_remove) == ["b"]


@pytest.mark.parametrize(
    ("prefix", "replacement", "pattern", "substitution"),
    [
        ("/a", "/b", "^/a", "/b"),
        ("/a/", "/b/", "^/a", "/b"),
        ("/a", "/", "^/a/*", "/"),
        ("/", "/b", "^/+", "/b/"),
        ("/a.b", "/c", r"^/a\.b", "/c"),
        ("/a", "/\\1", "^/a", "/\\\\1"),
    ],
)
def test_prefixes_are_replaced_literally(
    prefix: str, replacement: str, pattern: str, substitution: str
) -> None:
    rewrite = Rewrite(path=Replacement(replacement, is_prefix=True))
    route = _one(Match("prefix", prefix), Action((Backend("c"),), Changes(rewrite=rewrite)))
    made = route.route.regex_rewrite
    assert (made.pattern.regex, made.substitution) == (pattern, substitution)


@pytest.mark.parametrize(
    ("redirect", "port", "wanted"),
    [
        (Redirect(), 80, 0),
        (Redirect(), 8080, 8080),
        (Redirect(scheme="https"), 8080, 0),
        (Redirect(scheme="https", port=8443), 80, 8443),
        (Redirect(port=80), 8080, 0),
    ],
)
def test_the_port_of_a_redirect(redirect: Redirect, port: int, wanted: int) -> None:
    assert _one(Match(), Action(changes=Changes(redirect=redirect)), port).redirect.port_redirect == wanted


def test_where_requests_go() -> None:
    assert _one(Match(), Action()).direct_response.status == 500
    assert _one(Match(), Action((Backend(""),))).route.cluster == "nowhere"
    parts = _one(Match(), Action((Backend("a", 2), Backend("", 1)))).route.weighted_clusters.clusters
    assert [(part.name, part.weight.value) for part in parts] == [("a", 2), ("nowhere", 1)]
    mirrored = _one(Match(), Action((Backend("a"),), Changes(mirrors=(Mirror("b", 1, 3),)))).route
    (mirror,) = mirrored.request_mirror_policies
    assert (mirror.cluster, mirror.runtime_fraction.default_value.numerator) == ("b", 333333)
    assert _one(Match(), Action((Backend("a"),), seconds=1.5)).route.timeout.ToMilliseconds() == 1500
    assert _one(Match(), Action((Backend("a"),), backend_seconds=0.5)).route.timeout.ToMilliseconds() == 500


def test_the_resources_of_an_entry() -> None:
    http = Chain("http", hosts={"a.example": []})
    web = Chain("web", ("a.example",), ("default/pair",), {"a.example": []})
    passed = Chain("pass", ("b.example",), backends=(Backend(_CLUSTER.name),))
    entry = Entry(
        "default/g", (Port(80, False, (http,)), Port(443, True, (web, passed))), {_CLUSTER.name: _CLUSTER},
        {"default/pair": (b"chain", b"key")},
    )  # fmt: skip
    made = resources(entry, "192.0.2.1", {80: 20000, 443: 20001})
    assert list(made[CLUSTER]) == ["default/s/80"]
    assert made[SECRET]["default/pair"].tls_certificate.private_key.inline_bytes == b"key"
    assert list(made[ROUTES]) == ["default/g/80/http", "default/g/443/web"]
    secure = made[LISTENER]["default/g/443"]
    assert secure.address.socket_address.port_value == 20001
    assert [list(chain.filter_chain_match.server_names) for chain in secure.filter_chains] == [
        ["a.example"],
        ["b.example"],
    ]
    assert [chain.HasField("transport_socket") for chain in secure.filter_chains] == [True, False]


def test_a_port_that_leads_nowhere_is_not_opened() -> None:
    """The proxy refuses a listener without chains, as one that passes TLS on has before it gets a route."""
    made = resources(Entry("default/g", (Port(443, True, ()),), {}, {}), "192.0.2.1", {443: 20001})
    assert not any(made.values())


def _slice(*endpoints: Object, **more: object) -> Object:
    ports = [{"name": "web", "port": 8080, "protocol": "TCP"}, {"name": "other", "port": 1}]
    return {"addressType": "IPv4", "ports": ports, "endpoints": list(endpoints), **more}


def _endpoint(address: str, **conditions: bool) -> Object:
    return {"addresses": [address], "conditions": conditions}


@pytest.mark.parametrize(
    ("slices", "wanted"),
    [
        ([], []),
        ([_slice(_endpoint("10.0.0.1"), _endpoint("10.0.0.2", ready=False))], ["10.0.0.1"]),
        (
            [_slice(_endpoint("10.0.0.2")), _slice(_endpoint("10.0.0.1"), _endpoint("10.0.0.2"))],
            ["10.0.0.1", "10.0.0.2"],
        ),
        ([_slice(_endpoint("10.0.0.1", ready=False, serving=True, terminating=True))], ["10.0.0.1"]),
        (
            [
                _slice(
                    _endpoint("127.0.0.1"),
                    _endpoint("169.254.169.254"),
                    _endpoint("0.0.0.0"),
                    _endpoint("no"),
                )
            ],
            [],
        ),
        (
            [
                _slice(
                    _endpoint("::1"), _endpoint("::ffff:127.0.0.1"), _endpoint("fe80::1"), addressType="IPv6"
                )
            ],
            [],
        ),
        ([_slice(_endpoint("a.example"), addressType="FQDN")], []),
    ],
)
def test_endpoints_are_those_of_pods_that_serve(slices: list[Object], wanted: list[str]) -> None:
    made = clusters.endpoints(_CLUSTER, slices)
    addresses = [entry.endpoint.address.socket_address for entry in made.endpoints[0].lb_endpoints]
    assert [address.address for address in addresses] == wanted
    assert {address.port_value for address in addresses} <= {8080}


def test_the_proxy_is_no_endpoint_of_its_own() -> None:
    slices = [_slice(_endpoint("10.0.0.1"), _endpoint("10.0.0.2"))]
    made = clusters.endpoints(_CLUSTER, slices, ("10.0.0.1", range(8000, 9000)))
    assert [entry.endpoint.address.socket_address.address for entry in made.endpoints[0].lb_endpoints] == [
        "10.0.0.2"
    ]


def test_wildcards_of_origins_stay_within_a_host() -> None:
    cors = Cors(("https://*.a.example", "*", "https://b.example"))
    packed = _one(Match(), Action((Backend("c"),), Changes(cors=cors))).typed_per_filter_config[
        "envoy.filters.http.cors"
    ]
    policy = message("envoy.extensions.filters.http.cors.v3.CorsPolicy", {})
    packed.Unpack(policy)
    wild, every, exact = policy.allow_origin_string_match
    assert re.fullmatch(wild.safe_regex.regex, "https://x.a.example")
    assert not re.fullmatch(wild.safe_regex.regex, "https://evil.example/.a.example")
    assert (every.safe_regex.regex, exact.exact) == (".*", "https://b.example")


@pytest.mark.parametrize("kind", ["Route", "WeightedCluster.ClusterWeight"])
def test_headers_of_requests_and_answers_can_be_changed(kind: str) -> None:
    """Each side of a route and of one of its backends: a message without such a field would hold up a whole port."""
    option = {"header": {"key": "a", "value": "b"}}
    fields: dict[str, Any] = {f"{side}_headers_to_add": [option] for side in ("request", "response")}
    fields |= {f"{side}_headers_to_remove": ["c"] for side in ("request", "response")}
    made = message_class(f"envoy.config.route.v3.{kind}")(**fields)
    again = message_class(f"envoy.config.route.v3.{kind}")()
    again.ParseFromString(made.SerializeToString())
    assert again == made and again.response_headers_to_remove == ["c"]
