from collections import deque
from itertools import pairwise
from urllib.parse import quote

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pybernetes.api.resource import Resource
from pybernetes.control_plane.apiserver.observability.metrics import Metrics
from pybernetes.lib.metrics.exposition import Exposition
from tests.servers import TOKEN, Server

PODS = Resource(group="", version="v1", kind="Pod", plural="pods")
DEPLOYMENTS = Resource(group="apps", version="v1", kind="Deployment", plural="deployments")


def scrape(metrics: Metrics) -> dict[str, list[tuple[dict[str, str], float]]]:
    """Return every sample by name, read by Prometheus' own parser."""
    out = Exposition()
    deque(metrics.render(out), maxlen=0)
    assert out.content_type == b"text/plain; version=0.0.4; charset=utf-8"
    samples: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(out.render().decode()):
        for sample in family.samples:
            samples.setdefault(sample.name, []).append((sample.labels, sample.value))
    return samples


def test_requests_are_counted_by_code_and_timed_without_it() -> None:
    metrics = Metrics()
    for code, seconds in ((200, 0.001), (200, 0.005), (404, 0.03), (200, 99)):
        metrics.observe("list", PODS, "", "namespace", code, seconds, size=1001)
    metrics.observe("create", DEPLOYMENTS, "", "resource", 201, 0.01, 10, dry_run="All")
    samples = scrape(metrics)
    totals = {(labels["verb"], labels["code"]): value for labels, value in samples["apiserver_request_total"]}
    assert totals == {("LIST", "200"): 3, ("LIST", "404"): 1, ("POST", "201"): 1}
    assert samples["apiserver_request_total"][0][0] == {
        "code": "200", "component": "apiserver", "dry_run": "", "group": "", "resource": "pods",
        "scope": "namespace", "subresource": "", "verb": "LIST", "version": "v1",
    }  # fmt: skip
    buckets = {
        labels["le"]: value
        for labels, value in samples["apiserver_request_duration_seconds_bucket"]
        if labels["verb"] == "LIST"
    }
    assert (buckets["0.005"], buckets["0.025"], buckets["0.05"], buckets["60"], buckets["+Inf"]) == (
        2,
        2,
        3,
        3,
        4,
    )
    assert samples["apiserver_request_duration_seconds_count"][0][1] == 4
    assert round(samples["apiserver_request_duration_seconds_sum"][0][1], 3) == 99.036
    assert samples["apiserver_request_duration_seconds_count"][1][0]["dry_run"] == "All"
    sizes = {
        labels["le"]: value
        for labels, value in samples["apiserver_response_sizes_bucket"]
        if labels["verb"] == "LIST"
    }
    assert (sizes["1000"], sizes["10000"], sizes["1e+09"]) == (0, 4, 4)


def test_paths_without_a_resource() -> None:
    metrics = Metrics()
    metrics.observe("get", None, "/readyz", "", 500, 0.1)
    metrics.observe("get", None, "/version", "", 200, 0.1)
    labels = [labels for labels, _ in scrape(metrics)["apiserver_request_total"]]
    assert [(label["component"], label["subresource"], label["verb"]) for label in labels] == [
        ("", "/readyz", "GET"),
        ("apiserver", "/version", "GET"),
    ]


def test_watches_and_requests_in_flight() -> None:
    metrics = Metrics()
    metrics.long_running("watch", PODS, "", "cluster").value += 2
    metrics.long_running("watch", PODS, "", "cluster").value -= 1
    metrics.in_flight_writes.value += 3
    metrics.events(PODS).sent(2000, watchers=5)
    samples = scrape(metrics)
    assert samples["apiserver_longrunning_requests"] == [
        (
            {"component": "apiserver", "group": "", "resource": "pods", "scope": "cluster", "subresource": "",
             "verb": "WATCH", "version": "v1"},
            1,
        )
    ]  # fmt: skip
    assert samples["apiserver_current_inflight_requests"] == [
        ({"request_kind": "mutating"}, 3),
        ({"request_kind": "readOnly"}, 0),
    ]
    assert samples["apiserver_watch_events_total"] == [
        ({"group": "", "resource": "pods", "version": "v1"}, 5)
    ]
    assert samples["apiserver_watch_events_sizes_sum"][0][1] == 10_000


def test_storage() -> None:
    metrics = Metrics()
    metrics.count_objects = lambda: [(PODS, 7), (DEPLOYMENTS, 1)]
    metrics.database_size = lambda: 4096
    metrics.observe_storage("create", PODS, 0.002)
    samples = scrape(metrics)
    assert samples["apiserver_storage_objects"] == [
        ({"resource": "pods"}, 7),
        ({"resource": "deployments.apps"}, 1),
    ]
    assert samples["apiserver_resource_objects"][1] == ({"group": "apps", "resource": "deployments"}, 1)
    assert samples["apiserver_storage_size_bytes"][0][1] == 4096
    labels = {"group": "", "operation": "create", "resource": "pods"}
    assert samples["etcd_requests_total"] == [(labels, 1)]
    assert samples["etcd_request_duration_seconds_bucket"][0] == ({**labels, "le": "0.005"}, 1)


def test_a_resource_that_is_gone_is_forgotten() -> None:
    metrics = Metrics()
    for resource in (PODS, DEPLOYMENTS):
        metrics.observe("get", resource, "", "resource", 200, 0.1)
        metrics.observe_storage("get", resource, 0.1)
        metrics.events(resource).sent(1)
        metrics.long_running("watch", resource, "", "cluster")
    metrics.forget(DEPLOYMENTS)
    out = Exposition()
    deque(metrics.render(out), maxlen=0)
    assert b"deployments" not in out.render() and b'resource="pods"' in out.render()


def test_a_scrape_is_written_in_small_steps() -> None:
    metrics = Metrics()
    for number in range(50):
        resource = Resource(group="g", version="v1", kind=f"K{number}", plural=f"k{number}")
        for code in (200, 404):
            metrics.observe("get", resource, "", "resource", code, 0.1)
        metrics.observe_storage("get", resource, 0.1)
        metrics.events(resource).sent(1)
        metrics.long_running("watch", resource, "", "cluster")
    out = Exposition()
    written = [len(out.render()) for _ in metrics.render(out)]
    steps = [after - before for before, after in pairwise(written)]
    assert written[-1] > 500_000 and max(steps) < 10_000


def test_the_process_and_the_build() -> None:
    samples = scrape(Metrics())
    assert samples["kubernetes_build_info"][0][0]["git_version"] == "v1.37.0"
    assert samples["process_resident_memory_bytes"][0][1] > 1_000_000
    assert samples["process_open_fds"][0][1] > 0
    assert samples["process_start_time_seconds"][0][1] > 1_700_000_000


def test_label_values_are_escaped() -> None:
    metrics = Metrics()
    metrics.observe("get", None, '/a"b\\c\nd', "", 200, 0.1)
    assert scrape(metrics)["apiserver_request_total"][0][0]["subresource"] == '/a"b\\c\nd'


def test_what_clients_make_up_becomes_no_label(server: Server) -> None:
    """CVE-2020-8552: every made-up path, method and user agent was counted under a name of its own."""

    def ask(number: int) -> None:
        made_up = f"made-up-{number}"
        connection = server.connection()
        for method, path in (
            ("GET", f"/{made_up}"),
            ("GET", f"/apis/{made_up}/v1/{made_up}"),
            ("GET", f"/api/v1/{made_up}"),
            ("GET", f"/api/v1/namespaces/{made_up}/pods/{made_up}/{made_up}"),
            ("GET", f"/api/v1/pods?labelSelector={made_up}&{quote(made_up)}=x"),
            ("GET", f"/healthz/{made_up}"),
            ("TRACE", f"/api/v1/{made_up}"),
        ):
            connection.request(
                method, path, headers={"User-Agent": made_up, "Accept": f"application/{made_up}"}
            )
            connection.getresponse().read()
        connection.close()

    ask(0)
    before = len(server.call("GET", "/metrics")[1].splitlines())
    for number in range(1, 40):
        ask(number)
    text = server.call("GET", "/metrics")[1]
    assert "made-up" not in text
    assert len(text.splitlines()) < before + 40  # a bucket more here and there, not a record more for each


def test_an_sli_leaves_out_what_is_not_the_servers_own() -> None:
    metrics = Metrics()
    metrics.observe("create", PODS, "", "resource", 201, 0.01)
    metrics.observe("create", PODS, "", "resource", 201, 3.0, aside=2.5)
    metrics.observe("create", PODS, "", "resource", 500, 0.3, aside=9.0)
    samples = scrape(metrics)

    def buckets(name: str) -> dict[str, float]:
        return {labels["le"]: value for labels, value in samples[f"{name}_bucket"]}

    own, whole = (
        buckets("apiserver_request_sli_duration_seconds"),
        buckets("apiserver_request_duration_seconds"),
    )
    assert next(iter(own)) == "0.05" and (own["0.05"], own["0.4"], own["0.6"], own["+Inf"]) == (2, 2, 3, 3)
    assert (whole["0.05"], whole["2"], whole["3"], whole["+Inf"]) == (1, 2, 3, 3)
    assert samples["apiserver_request_sli_duration_seconds_sum"][0][1] == pytest.approx(0.51)
    assert set(samples["apiserver_request_sli_duration_seconds_count"][0][0]) == {
        "component", "group", "resource", "scope", "subresource", "verb", "version",
    }  # fmt: skip


def test_deprecated_apis_that_were_asked_for() -> None:
    metrics = Metrics()
    old = Resource(
        group="", version="v1", kind="Endpoints", plural="endpoints", deprecated="use something else"
    )
    for resource in (old, PODS):
        metrics.observe("list", resource, "", "namespace", 200, 0.01)
        metrics.observe("get", resource, "", "resource", 200, 0.01)
    labels = {"group": "", "removed_release": "", "resource": "endpoints", "subresource": "", "version": "v1"}
    assert scrape(metrics)["apiserver_requested_deprecated_apis"] == [(labels, 1.0)]


# What upstream marks STABLE or BETA and a server shows that has just started: type and labels.
_FLOW = {"flow_schema", "priority_level"}
_REQUEST = {"component", "group", "resource", "scope", "subresource", "verb", "version"}
_POLICY = {"policy", "policy_binding", "error_type", "enforcement_action"}
_GRADUATED = {
    "apiserver_admission_controller_admission_duration_seconds": (
        "histogram", {"name", "operation", "rejected", "type"},
    ),
    "apiserver_storage_events_received": ("counter", {"group", "resource"}),
    "apiserver_webhooks_x509_insecure_sha1": ("counter", set()),
    "apiserver_webhooks_x509_missing_san": ("counter", set()),
    "serviceaccount_legacy_tokens": ("counter", set()),
    "serviceaccount_stale_tokens": ("counter", set()),
    "serviceaccount_valid_tokens": ("counter", set()),
    "apiserver_admission_step_admission_duration_seconds": ("histogram", {"operation", "rejected", "type"}),
    "apiserver_cel_compilation_duration_seconds": ("histogram", set()),
    "apiserver_cel_evaluation_duration_seconds": ("histogram", set()),
    "apiserver_current_inflight_requests": ("gauge", {"request_kind"}),
    "apiserver_flowcontrol_current_executing_requests": ("gauge", _FLOW),
    "apiserver_flowcontrol_current_executing_seats": ("gauge", _FLOW),
    "apiserver_flowcontrol_current_inqueue_requests": ("gauge", _FLOW),
    "apiserver_flowcontrol_dispatched_requests": ("counter", _FLOW),
    "apiserver_flowcontrol_nominal_limit_seats": ("gauge", {"priority_level"}),
    "apiserver_flowcontrol_request_wait_duration_seconds": ("histogram", {*_FLOW, "execute"}),
    "apiserver_request_duration_seconds": ("histogram", {*_REQUEST, "dry_run"}),
    "apiserver_request": ("counter", {*_REQUEST, "dry_run", "code"}),
    "apiserver_response_sizes": ("histogram", _REQUEST),
    "apiserver_storage_objects": ("gauge", {"resource"}),
    "apiserver_validating_admission_policy_check_duration_seconds": ("histogram", _POLICY),
    "apiserver_validating_admission_policy_check": ("counter", _POLICY),
    "apiserver_watch_list_duration_seconds": ("histogram", {"group", "version", "resource", "scope"}),
    "kubernetes_build_info": (
        "gauge",
        {"build_date", "compiler", "git_commit", "git_tree_state", "git_version", "go_version", "major", "minor",
         "platform"},
    ),
    "kubernetes_feature_enabled": ("gauge", {"name", "stage"}),
}  # fmt: skip


def test_graduated_metrics_have_upstreams_types_and_labels(server: Server) -> None:
    group = "/apis/admissionregistration.k8s.io/v1"
    rules = [
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    ]
    spec = {"matchConstraints": {"resourceRules": rules}, "validations": [{"expression": "object.metadata.name != 'no'"}]}  # fmt: skip
    for plural, body in (
        ("validatingadmissionpolicies", spec),
        ("validatingadmissionpolicybindings", {"policyName": "counted", "validationActions": ["Deny"]}),
    ):
        assert server.call("POST", f"{group}/{plural}", {"metadata": {"name": "counted"}, "spec": body})[0] == 201  # fmt: skip
    path = "/api/v1/namespaces/default/configmaps"
    connection = server.connection()  # of nobody: administrators need no seat
    connection.request("GET", "/version")
    connection.getresponse().read()
    connection.close()
    try:
        assert server.call("POST", path, {"metadata": {"name": "no"}})[0] == 422
        assert server.call("POST", path, {"metadata": {"name": "yes"}})[0] == 201
        query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1"
        connection = server.connection()
        connection.request("GET", f"{path}?{query}", headers={"Authorization": f"Bearer {TOKEN}"})
        assert b"initial-events-end" in connection.getresponse().read()
        connection.close()
        text = server.call("GET", "/metrics")[1]
    finally:
        for plural in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
            server.call("DELETE", f"{group}/{plural}/counted")
        server.call("DELETE", f"{path}/yes")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    shown = {
        name: (families[name].type, {label for sample in families[name].samples for label in sample.labels} - {"le"})
        for name in _GRADUATED if name in families
    }  # fmt: skip
    assert shown == _GRADUATED
    checks = {
        sample.labels["enforcement_action"]: sample.value
        for sample in families["apiserver_validating_admission_policy_check"].samples
        if sample.labels["policy"] == "counted"
    }
    assert checks == {"deny": 1, "allow": 1}
