"""The CNI configuration."""

from pybernetes.node.network import cni


def test_the_cni_configuration_says_what_the_plan_does() -> None:
    configuration = cni.configuration(["10.244.1.0/24", "fd00:1::/64"], mtu=1450)
    main, ports = configuration["plugins"]
    assert main["mtu"] == 1450 and main["ipMasq"] is False and ports["capabilities"] == {"portMappings": True}
    assert main["ipam"]["ranges"] == [[{"subnet": "10.244.1.0/24"}], [{"subnet": "fd00:1::/64"}]]
