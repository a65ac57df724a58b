"""The configuration of keepalived: one machine answers for the virtual address, another takes it over when that one fails."""

from __future__ import annotations

import ipaddress

from pybernetes.tools.load_balancer.plan import Plan

CONFIGURATION = "/etc/keepalived/keepalived.conf"
CHECK = "/etc/keepalived/check_apiserver.sh"
_HIGHEST = 254  # 255 is for the owner of an address; the higher the sooner a machine takes over

_FILE = """\
global_defs {{
    router_id {name}
    script_user {user}
    enable_script_security
    vrrp_version {version}
    # What others may have learnt before the address moved. Of two that had it while they did not see each other, the one that
    # keeps it may not even hear of the other: it says so every second.
    vrrp_garp_master_repeat 3
    vrrp_garp_master_refresh 1
}}

# Fails when HAProxy on this machine is gone, or sees no API server.
vrrp_script check_apiserver {{
    script "{check}"
    interval 1
    timeout {timeout}
    fall 2
    rise 1
}}

vrrp_instance kubernetes {{
    # No machine is better than another: the address stays where it is when one comes back.
    state BACKUP
    nopreempt
    interface {interface}
    virtual_router_id {router}
    priority {priority}
    advert_int 1
    # Not to everybody in the network, and from nobody else.
    unicast_src_ip {address}
    check_unicast_src
{authentication}    unicast_peer {{
{peers}    }}
    virtual_ipaddress {{
        {virtual}/{length} dev {interface}
    }}
    track_script {{
        check_apiserver
    }}
}}
"""

# The older of VRRP's versions has a password, the newer one has IPv6.
_AUTHENTICATION = """\
    authentication {{
        auth_type PASS
        auth_pass {password}
    }}
"""
# One that is gone refuses at once. Where all machines have much to do, each of them is slow: if that counted, none would have
# the address.
_PATIENCE = 5
_SCRIPT = """\
#!/bin/sh
exec curl --silent --fail --noproxy '*' --max-time {patience} --output /dev/null http://127.0.0.1:{port}/healthz
"""
# What was routed, as from pods and other networks, has less.
_HOPS = 255


def configuration(plan: Plan, name: str, user: str = "nobody") -> str:
    """Return the file that keepalived on one machine reads; the check runs as ``user``."""
    position = plan.position(name)
    own = plan.servers[position]
    others = [server.address for server in plan.servers if server is not own]
    # A host's own prefix: the network is the interface's already, and no second route to it is wanted.
    length = ipaddress.ip_address(plan.address).max_prefixlen
    has_password = bool(plan.password) and not plan.is_ipv6
    return _FILE.format(
        name=name, user=user, check=CHECK, timeout=_PATIENCE + 3, interface=plan.interface, router=plan.router,
        priority=_HIGHEST - position, address=own.address, virtual=plan.address, length=length,
        peers="".join(f"        {address} min_ttl {_HOPS} max_ttl {_HOPS}\n" for address in others),
        version=2 if has_password else 3,
        authentication=_AUTHENTICATION.format(password=plan.password) if has_password else "",
    )  # fmt: skip


def check_script(plan: Plan) -> str:
    """Return the script that says whether this machine can serve: no if HAProxy refuses, or does not answer for long."""
    return _SCRIPT.format(port=plan.health_port, patience=_PATIENCE)
