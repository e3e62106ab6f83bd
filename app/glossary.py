"""Glossary of technical terms, shown on hover."""

from __future__ import annotations

from typing import Final

TERMS: Final = {
    "LPS": "leases per second: complete exchanges with a DHCP server that end in an address.",
    "exchange": "one request and its answer, such as DISCOVER-OFFER. A DHCPv4 lease takes two exchanges.",
    "loss goal": "how much may be lost before a rate no longer counts. ISC allows 2.5 % of any exchange.",
    "bound": "≥ the server sustained at least this; < it already lost too much at this rate.",
    "bracket": "the last rate that passed and the first that lost too much: the limit is between them.",
    "interval": "the range of the limit with 95 % confidence, from repeated runs.",
    "dip": "a loss that comes and goes in the middle of a ramp, or a run far below its neighbours.",
}


def about(*terms: str) -> str:
    """Return terms with their definitions, as the help text of a page or a field."""
    return "\n\n".join(f"**{term[0].upper()}{term[1:]}**: {TERMS[term]}" for term in terms)
