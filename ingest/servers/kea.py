"""Configurations of the ISC Kea DHCP servers, 1.8 to 3.x (Kea Administrator Reference Manual).

Settings whose default depends on the server's version, which a configuration does not contain, are None.
"""

import ipaddress
import re
from functools import lru_cache
from typing import Any, Final, NoReturn

from dropline.ingest.formats import Row
from dropline.ingest.servers import commented_json
from dropline.ingest.servers.plain import identity, refuse, settings_json, unicode
from dropline.ingest.synonyms import normalise

NAME = "kea"
PRODUCT: Final = "ISC Kea"

_FAMILIES: Final = {"Dhcp4": 4, "Dhcp6": 6}
_OTHERS: Final = {
    "Control-agent": "a configuration of the Kea Control Agent",
    "DhcpDdns": "a configuration of the Kea DHCP-DDNS server",
    "Netconf": "a configuration of the Kea NETCONF agent",
}
IN_JSON: Final = tuple(f'"{key}"' for key in (*_FAMILIES, *_OTHERS))
_KEY: Final = re.compile("|".join(IN_JSON).encode())
# Beginning of an answer to config-get.
_ANSWER: Final = re.compile(rb'\A\s*+\[?\s*+\{(?:\s*"(?:result|text)"\s*:[^,{}]*,)*\s*"arguments"\s*:\s*(?=\{)')
_HA_HOOK: Final = re.compile(r"libdhcp_ha(?:\..*)?")
_MAX_INT32: Final = 2**31 - 1
_MAX_INT64: Final = 2**63 - 1
_TIMERS: Final = {
    "valid_lifetime_s": "valid-lifetime",
    "renew_timer_s": "renew-timer",
    "rebind_timer_s": "rebind-timer",
}
_HINT: Final = "compare with the Kea Administrator Reference Manual; `kea-dhcp4 -t FILE` checks a file"


def sniff(head: bytes) -> bool:
    """Return whether a file that begins with `head` configures a Kea DHCP server."""
    return any(key in _FAMILIES for key in _keys(head))


def describe(head: bytes) -> str | None:
    """Return the name of a configuration of a Kea program other than a DHCP server; None for anything else."""
    return None if sniff(head) else next((_OTHERS[key] for key in _keys(head) if key in _OTHERS), None)


@lru_cache(maxsize=1)  # sniff and describe are called with the same head
def _keys(head: bytes) -> list[str]:
    """Return the keys of the outermost object; empty if `head` contains no key of Kea."""
    return list(commented_json.top_level_keys(_ANSWER.sub(b"", head, 1))) if _KEY.search(head) else []


def default_threading(version: str) -> str | None:
    """Return the default of `enable-multi-threading` in Kea `version`.

    `single` up to 2.3.4, `multi` from 2.3.5 on (in stable releases: from 2.4); None for text without a version.
    """
    numbers = re.search(r"([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4}))?", version)
    if numbers is None:
        return None
    return "multi" if tuple(int(n or 0) for n in numbers.groups()) >= (2, 3, 5) else "single"


def parse(data: bytes) -> Row:
    """Return the row of schema.SERVER_CONFIGS for a configuration or a `config-get` answer, as far as it is known here.

    0 threads, with which Kea chooses the number, becomes None. `valid_lifetime_s` and the timers are the global ones.
    `ha_peers` counts all servers of the relationship. `pool_addresses` and `prefix_pool_prefixes` are None if a pool is
    invalid. `settings` is the whole configuration as JSON with sorted keys and masked secrets; its digest is
    `server_config_id`. Raise Rejected for anything that Kea would not accept as the configuration of a DHCP server.
    """
    try:
        document = commented_json.loads(data)
        answer = document[0] if isinstance(document, list) and len(document) == 1 else document
        if isinstance(answer, dict) and isinstance(answer.get("arguments"), dict):
            document = {key: value for key, value in answer["arguments"].items() if key != "hash"}
        name, config = _server(document)
        settings = settings_json(document)
    except RecursionError:
        refuse("nested too deeply for a configuration", _HINT)
    except ValueError:  # 1e999 is parsed as infinity
        refuse("a number in the configuration is out of range", _HINT)
    hooks, leases = _objects(config, "hooks-libraries"), _object(config, "lease-database")
    backend = normalise("backend", _text(leases, "type") or "memfile")
    pool = _object(config, "multi-threading")
    enabled, queue = _flag(pool, "enable-multi-threading"), _whole(pool, "packet-queue-size", _MAX_INT64)
    threads = _whole(pool, "thread-pool-size", _MAX_INT32) or None
    threading = {"threading": "multi" if enabled else None, "threads": threads, "packet_queue_size": queue}
    if enabled is False:  # so the sizes have no effect
        threading = {"threading": "single", "threads": 1, "packet_queue_size": None}
    seconds = {ours: _whole(config, key, 2**32 - 1) for ours, key in _TIMERS.items()}
    return {
        "server_config_id": identity(settings),
        "product": PRODUCT,
        "product_version": None,
        "protocol": f"DHCPv{_FAMILIES[name]}",
        **backend,
        # Only memfile can be configured not to keep the leases; databases always do.
        "backend_persistent": backend != {"backend": "memfile"} or _flag(leases, "persist") is not False,
        **threading,
        **_high_availability(hooks),
        **_address_space(config, _FAMILIES[name]),
        "client_classes": len(_objects(config, "client-classes")),
        "hooks": [library for hook in hooks if (library := _library(hook))],
        **{name: None if value is None else float(value) for name, value in seconds.items()},
        "socket_type": _text(_object(config, "interfaces-config"), "dhcp-socket-type"),
        "settings": settings,
    }


def _server(document: Any) -> tuple[str, Row]:
    if not isinstance(document, dict):
        refuse(f"expected an object with Dhcp4 or Dhcp6, found {_kind(document)}", _HINT)
    found = [name for name in _FAMILIES if name in document]
    if len(found) == 1:
        return found[0], _object(document, found[0])
    if found:
        hint = "split it: one file for each server, as Kea 1.8 and later require"
        refuse("one file configures both Dhcp4 and Dhcp6", hint)
    other = next((words for key, words in _OTHERS.items() if key in document), "no Dhcp4 or Dhcp6")
    hint = "give the configuration of kea-dhcp4 or kea-dhcp6, or leave the file out"
    refuse(f"expected the configuration of a DHCP server, found {other}", hint)


def _high_availability(hooks: list[Row]) -> Row:
    row: Row = dict.fromkeys(("ha_mode", "ha_server_name", "ha_role", "ha_peers"))
    hook = next((hook for hook in hooks if _HA_HOOK.fullmatch(_library(hook))), None)
    if hook is None:
        return row | {"ha_mode": "none"}
    # With several relationships (hub and spoke, from 2.5 on), all have the mode hot-standby.
    relationships = _objects(_object(hook, "parameters"), "high-availability")
    if not relationships:
        return row
    peers = [peer for each in relationships for peer in _objects(each, "peers")]
    name = _text(relationships[0], "this-server-name")
    me = next((peer for peer in peers if name and _text(peer, "name") == name), {})
    mode, role = _text(relationships[0], "mode"), _text(me, "role")
    return {
        "ha_mode": mode.lower() if mode else None,
        "ha_server_name": name,
        "ha_role": role.lower() if role else None,
        "ha_peers": len(peers),
    }


def _address_space(config: Row, family: int) -> Row:
    key = f"subnet{family}"
    networks = _objects(config, "shared-networks")
    subnets = [subnet for scope in (config, *networks) for subnet in _objects(scope, key)]
    pools = [pool for subnet in subnets for pool in _objects(subnet, "pools")]
    prefix_pools = [pool for subnet in subnets for pool in _objects(subnet, "pd-pools")]
    scopes = (config, *networks, *subnets)
    return {
        "subnets": len(subnets),
        "pools": len(pools),
        "pool_addresses": _sum(_pool_addresses(_text(pool, "pool"), family) for pool in pools),
        "prefix_pools": len(prefix_pools),
        "prefix_pool_prefixes": _sum(_delegated_prefixes(pool) for pool in prefix_pools),
        "reservations": sum(len(_objects(scope, "reservations")) for scope in scopes),
    }


def _sum(sizes: Any) -> float | None:
    known = list(sizes)
    return None if None in known else float(sum(known))


def _pool_addresses(text: str | None, family: int) -> int | None:
    """Return the number of addresses of `first-last` or `prefix/length`; ignore blanks."""
    pool = re.sub(r"[ \t]", "", text or "")
    try:
        if re.fullmatch(r"[0-9A-Fa-f:.]+/[0-9]{1,3}", pool):
            network = ipaddress.ip_network(pool, strict=False)
            return network.num_addresses if network.version == family else None
        first, last = (ipaddress.ip_address(end) for end in pool.split("-"))
    except ValueError:
        return None
    if {first.version, last.version} != {family} or int(first) > int(last):
        return None
    return int(last) - int(first) + 1


def _delegated_prefixes(pool: Row) -> int | None:
    """Return the number of prefixes of `delegated-len` in one of `prefix-len` (RFC 8415, 6.3)."""
    outer, inner = _whole(pool, "prefix-len", 128), _whole(pool, "delegated-len", 128)
    if outer is None or inner is None or inner < outer:
        return None
    return 1 << (inner - outer)


def _library(hook: Row) -> str:
    return (_text(hook, "library") or "").rpartition("/")[2]


def _object(parent: Row, key: str) -> Row:
    value: Row = parent.get(key, {})
    return value if isinstance(value, dict) else _unexpected(key, "an object", value)


def _objects(parent: Row, key: str) -> list[Row]:
    value: list[Row] = parent.get(key, [])
    wrong = [item for item in value if not isinstance(item, dict)] if isinstance(value, list) else [value]
    return value if not wrong else _unexpected(key, "a list of objects", wrong[0])


def _text(parent: Row, key: str) -> str | None:
    value = parent.get(key)
    if not isinstance(value, str | None):
        _unexpected(key, "a text", value)
    return " ".join(unicode(value).split())[:500] or None if value else None


def _flag(parent: Row, key: str) -> bool | None:
    value: bool | None = parent.get(key)
    return value if isinstance(value, bool | None) else _unexpected(key, "true or false", value)


def _whole(parent: Row, key: str, most: int) -> int | None:
    value: int | None = parent.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most):
        _unexpected(key, f"a whole number from 0 to {most}", value)
    return value


def _unexpected(key: str, expected: str, value: Any) -> NoReturn:
    refuse(f"{key}: expected {expected}, found {_kind(value)}", _HINT)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", type(None): "null"}
    return names.get(type(value)) or f"{unicode(str(value))[:80]!r}"
