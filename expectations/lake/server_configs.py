"""What a server's configuration must be like."""

from typing import Final

from expectations.suite import Suite, at_least, not_above

SUITE: Final = Suite(
    name="lake/server_configs",
    query="""
        select
            campaign,
            source_path,
            renew_timer_s,
            rebind_timer_s,
            valid_lifetime_s,
            coalesce(rebind_timer_s, renew_timer_s) as last_timer_s,
            ha_mode,
            ha_peers,
            if(ha_mode in ('hot-standby', 'load-balancing'), ha_peers, null) as needed_ha_peers
        from server_configs
    """,
    expectations=(
        not_above(
            "renew_timer_s",
            "rebind_timer_s",
            code="renewal_after_rebinding",
            severity="warning",
            reason=("A client asks its own server (T1) before it asks any (T2): RFC 2131 4.4.5, RFC 8415 21.4."),
            detail="renew-timer {renew_timer_s:.6g} s, rebind-timer {rebind_timer_s:.6g} s",
        ),
        not_above(
            "last_timer_s",
            "valid_lifetime_s",
            code="timer_after_lease_end",
            severity="warning",
            reason=("A lease that ends before its timer is never renewed; the load has other causes then."),
            detail="timer {last_timer_s:.6g} s, valid-lifetime {valid_lifetime_s:.6g} s",
        ),
        at_least(
            "needed_ha_peers",
            2,
            code="ha_without_partner",
            severity="warning",
            reason="High availability needs two servers.",
            detail="{ha_mode} with {ha_peers} servers",
        ),
    ),
)
