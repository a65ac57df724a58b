from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.metrics.health_slis import HealthSlis


def test_results_are_counted() -> None:
    slis = HealthSlis()
    for healthy in (True, False, False):
        slis.note("etcd", "readyz", healthy)
    slis.note("ping", "livez", True)
    out = Exposition()
    slis.write(out)
    lines = out.render().decode().splitlines()
    assert [line for line in lines if line[0] != "#"] == [
        'kubernetes_healthcheck{name="etcd",type="readyz"} 0',
        'kubernetes_healthcheck{name="ping",type="livez"} 1',
        'kubernetes_healthchecks_total{name="etcd",status="error",type="readyz"} 2',
        'kubernetes_healthchecks_total{name="etcd",status="success",type="readyz"} 1',
        'kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1',
    ]
