"""The iptables rules of the mode ipvs: always the same, since sets hold what differs. Pure."""

from __future__ import annotations

from pybernetes.node.proxy.backend import Settings
from pybernetes.node.proxy.iptables import saved_rules
from pybernetes.node.proxy.iptables.chains import Jump
from pybernetes.node.proxy.iptables.rules import match_local
from pybernetes.node.proxy.ipvs import sets

_PREFIX = "KUBE-IPVS-"  # of all chains: none is shared with the mode iptables
_SERVICES, _MARK, _POSTROUTING = f"{_PREFIX}SERVICES", f"{_PREFIX}MARK-MASQ", f"{_PREFIX}POSTROUTING"
_FIREWALL, _SOURCES = f"{_PREFIX}FIREWALL", f"{_PREFIX}SOURCE-RANGES"
_COMMENT = "kubernetes service portals of ipvs"
_FILTER, _FORWARD, _EXTERNAL = f"{_PREFIX}FILTER", f"{_PREFIX}FORWARD", f"{_PREFIX}EXTERNAL-LOCAL"


JUMPS = (
    # Before the kernel has chosen a real server: there every packet still has the address that was asked for.
    Jump("mangle", "PREROUTING", "", _FIREWALL, _COMMENT),
    Jump("mangle", "OUTPUT", "", _FIREWALL, _COMMENT),
    Jump("nat", "PREROUTING", "", _SERVICES, _COMMENT),
    Jump("nat", "OUTPUT", "", _SERVICES, _COMMENT),
    Jump("nat", "POSTROUTING", "", _POSTROUTING, _COMMENT),
    Jump("filter", "INPUT", "", _FILTER, _COMMENT),
    Jump("filter", "FORWARD", "", _FORWARD, _COMMENT),
)
_TABLES = ("mangle", "nat", "filter")


def chains(settings: Settings, family: int) -> dict[str, dict[str, list[str]]]:
    """Return the chains of each table with their rules."""

    def match(of: str, where: str = "dst,dst") -> str:
        return f"-m set --match-set {sets.name(of, family)} {where}"

    mark, loopback = settings.mark, "127.0.0.0/8" if family == 4 else "::1/128"
    not_from_pods = match_local(settings, family, negated=True)
    if settings.masquerade_all:
        cluster = f"{match(sets.CLUSTER_IP)} -j {_MARK}"
    elif not_from_pods:
        cluster = f"{not_from_pods}{match(sets.CLUSTER_IP)} -j {_MARK}"
    else:  # at least what this node sends: its source is the very address that it is sent to
        cluster = f"{match(sets.CLUSTER_IP, 'src,dst')} -j {_MARK}"
    forward = [f"-m mark --mark {mark}/{mark} -j ACCEPT", "-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT"]  # fmt: skip
    if not settings.tcp_be_liberal:
        forward.insert(0, "-m conntrack --ctstate INVALID -j DROP")
    return {
        "mangle": {
            _FIREWALL: [
                f"{match(sets.FIREWALL)} -j {_SOURCES}",
                f"{not_from_pods}-m addrtype ! --src-type LOCAL -m conntrack --ctstate NEW {match(sets.NO_LOCAL)} -j DROP",
            ],
            _SOURCES: [f"{match(sets.SOURCES, 'dst,dst,src')} -j RETURN", "-j DROP"],
        },
        "nat": {
            _SERVICES: [
                f"-s {loopback} -j RETURN",
                cluster,
                f"{match(sets.EXTERNAL_IP)} -j {_MARK}",
                f"{match(sets.EXTERNAL_IP_LOCAL)} -j {_EXTERNAL}",
            ],
            # Pods of this node see who asks, unless it is this node.
            _EXTERNAL: [f"-m addrtype --src-type LOCAL -j {_MARK}"],
            _MARK: [f"-j MARK --or-mark {mark}"],
            _POSTROUTING: [
                f"{match(sets.LOOP_BACK, 'dst,dst,src')} -j MASQUERADE --random-fully",
                f"-m mark ! --mark {mark}/{mark} -j RETURN",
                f"-j MARK --xor-mark {mark}",
                "-j MASQUERADE --random-fully",
            ],
        },
        "filter": {
            _FORWARD: forward,
            # The node has the addresses of Services: nobody is to reach by them what else listens here.
            _FILTER: [
                f"-p tcp {match(sets.HEALTH_CHECK, 'dst')} -j ACCEPT",
                *(f"{match(of)} -j RETURN" for of in (sets.CLUSTER_IP, sets.EXTERNAL_IP, sets.EXTERNAL_IP_LOCAL)),
                f"-m conntrack --ctstate NEW {match(sets.BOUND, 'dst')} -j REJECT",
            ],
        },
    }  # fmt: skip


def restore(settings: Settings, family: int, saved: str) -> str:
    """Return what ``iptables-restore --noflush`` has to read, given what ``iptables-save`` printed."""
    text: list[str] = []
    for table, of_table in chains(settings, family).items():
        text += [f"*{table}", *(f":{chain} - [0:0]" for chain in of_table)]
        text += [f"-A {chain} {rule}" for chain, rules in of_table.items() for rule in rules]
        text += [
            f"-I {jump}" for jump in JUMPS if jump.table == table and not saved_rules.has_jump(saved, jump)
        ]
        text.append("COMMIT")
    return "\n".join([*text, ""])


def removal(saved: str) -> str:
    """Return what ``iptables-restore --noflush`` has to read so that nothing of the mode is left."""
    return saved_rules.removal(saved, _TABLES, lambda table, name: name.startswith(_PREFIX))
