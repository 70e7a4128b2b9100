"""Kernel settings of the testbed's namespaces. They vanish with the namespaces; the host keeps its
own settings.

The list has settings that affect results and differ between hosts, or between Linux and a scenario.
Every value is read back and goes into the provenance.
"""

from __future__ import annotations

from ..plan import Class
from .errors import LinuxError
from .namespace import read_setting, write_setting

BUFFER_LIMIT = 64 * 2**20
"""Bytes to which socket buffers may grow; decides the window scale offered in a SYN."""

FIXED = {
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv6.conf.default.disable_ipv6": "1",
    "net.ipv4.conf.all.rp_filter": "0",  # an answer may come by another path
    "net.ipv4.conf.default.rp_filter": "0",
    "net.ipv4.tcp_congestion_control": "reno",  # for sockets that select no congestion control
    "net.ipv4.tcp_no_metrics_save": "1",  # a connection learns nothing from an earlier one
    "net.ipv4.tcp_slow_start_after_idle": "0",
    "net.ipv4.tcp_timestamps": "1",
    "net.ipv4.tcp_ecn": "0",
    "net.ipv4.tcp_early_retrans": "0",  # no tail-loss probes unless the scenario has them
    "net.ipv4.tcp_moderate_rcvbuf": "0",  # buffers have the size that is set
    "net.ipv4.tcp_rmem": f"4096 131072 {BUFFER_LIMIT}",
    "net.ipv4.tcp_wmem": f"4096 131072 {BUFFER_LIMIT}",
    "net.ipv4.tcp_orphan_retries": "1",  # leftovers of a killed process expire soon
    "net.mptcp.enabled": "1",
    "net.mptcp.scheduler": "default",
    "net.mptcp.checksum_enabled": "0",
    "net.mptcp.allow_join_initial_addr_port": "1",
    "net.mptcp.blackhole_timeout": "0",  # lost SYNs do not turn MPTCP off
    "net.mptcp.syn_retrans_before_tcp_fallback": "32",
}
"""Settings that are the same in every run; settings that a kernel lacks are left out."""

EACH_ACK = {
    "net.ipv4.tcp_comp_sack_nr": "0",
    "net.ipv4.tcp_backlog_ack_defer": "0",
}
"""With the route's `quickack`: no two ACKs are merged."""

ONLY_READ = (
    "net.ipv4.tcp_recovery",
    "net.ipv4.tcp_frto",
    "net.ipv4.tcp_dsack",
    "net.ipv4.tcp_reordering",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_retries2",
    "net.ipv4.tcp_autocorking",
    "net.mptcp.stale_loss_cnt",
    "net.mptcp.add_addr_timeout",
    "net.mptcp.close_timeout",
    "net.mptcp.path_manager",
)
"""Left as the kernel has them, but on record."""


def wanted(planned: Class) -> dict[str, str]:
    """The settings for a class of a plan."""
    chosen = FIXED | {"net.ipv4.tcp_sack": str(int(planned.sack))}
    if planned.ecn:
        chosen["net.ipv4.tcp_ecn"] = "1"
    if planned.tlp:
        chosen["net.ipv4.tcp_early_retrans"] = "3"
    if planned.idle == "decay":
        chosen["net.ipv4.tcp_slow_start_after_idle"] = "1"
    if planned.delayed_ack_s == 0:
        chosen |= EACH_ACK
    if planned.rto_min_s != 0.2:
        chosen["net.ipv4.tcp_rto_min_us"] = str(round(planned.rto_min_s * 1e6))
    if planned.rto_max_s != 120:
        chosen["net.ipv4.tcp_rto_max_ms"] = str(round(planned.rto_max_s * 1e3))
    return chosen


def apply(planned: Class) -> dict[str, str]:
    """Applies the settings of a class in the namespace of the calling thread. Returns all values,
    read back.

    Raises LinuxError when the kernel lacks a setting that the scenario asks for.
    """
    for name, value in wanted(planned).items():
        if read_setting(name) is None:
            if name in FIXED or name in EACH_ACK:
                continue
            raise LinuxError(f"this kernel has no setting {name}, which {planned.name} needs")
        write_setting(name, value)
    values = {name: read_setting(name) for name in (*wanted(planned), *ONLY_READ)}
    return {name: value for name, value in values.items() if value is not None}
