"""The benchmarks' plot: a row per kind of work, a dot per series, on a log scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

COLOURS: Final = ("#0072b2", "#009e73", "#d55e00")  # of Okabe and Ito: safe for colour-blind readers
_LEFT: Final = 300
_STEP: Final = 24
_WIDTH: Final = 760


def dots(rows: Mapping[str, Mapping[str, float]], colours: Mapping[str, str], unit: str, powers: range) -> str:
    """Return an SVG: a dot for each value of each row, in the colour of its series, from the first power to the last.

    A value below the first power is drawn at it.
    """
    bottom = 40 + _STEP * len(rows)

    def at(value: float) -> float:
        least = 10.0 ** powers[0]
        return _LEFT + (_WIDTH - _LEFT - 20) * math.log10(max(value, least) / least) / (len(powers) - 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{bottom + 30}" font-family="sans-serif" '
        'font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        *(
            f'<circle cx="{_LEFT + 120 * place}" cy="14" r="5" fill="{colour}"/>'
            f'<text x="{_LEFT + 10 + 120 * place}" y="18">{name}</text>'
            for place, (name, colour) in enumerate(colours.items())
        ),
    ]
    for power in powers:
        x = at(10.0**power)
        parts.append(f'<line x1="{x:.0f}" y1="30" x2="{x:.0f}" y2="{bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.0f}" y="{bottom + 16}" text-anchor="middle">{10.0**power:g} {unit}</text>')
    for place, (name, values) in enumerate(rows.items()):
        y = 45 + _STEP * place
        parts.append(f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{name}</text>')
        parts += [
            f'<circle cx="{at(value):.1f}" cy="{y}" r="5" fill="{colours[series]}"/>'
            for series, value in values.items()
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"
