"""Screenshots of the running app for README and documents: `python -m docs.pictures HOME`."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from PIL import Image

from benchmarks.pages import chromium, served

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

ROOT: Final = Path(__file__).parent.parent
FILE: Final = ROOT / "examples/kea-2.2-backends/runs/v4_st_memfile_none/rep1/rate12600.txt"
EVENT: Final = urlencode({"clients": 350_000, "lease_s": "2 h", "down_clients": "50k"})
WIDE: Final = (1440, 1050)
FRAME: Final = (1000, 750)


def drop(page: Page) -> None:
    """Drop a raw file on the page, and wait for its results."""
    page.locator("input[type=file]").set_input_files(FILE)
    page.get_by_role("heading", name="Output of perfdhcp").wait_for()


def stay(page: Page) -> None:
    """Leave the page as it opens."""
    page.mouse.move(0, 0)


# Pictures of README: a file becomes a figure, and figures are compared.
PICTURES: Final[dict[str, tuple[str, tuple[int, int], Callable[[Page], None]]]] = {
    "results": ("", WIDE, stay),
    "file": ("try_file", FRAME, drop),
    "figure": ("run", FRAME, stay),
    "run": ("run", (1440, 1700), stay),
    "compare": ("compare", FRAME, stay),
    "planner": (f"planner?{EVENT}", FRAME, stay),
}


def main(home: Path) -> None:
    """Take every picture, in 256 colours."""
    with served(home) as address, chromium() as page:
        for name, (path, (width, height), act) in PICTURES.items():
            page.set_viewport_size({"width": width, "height": height})
            page.goto(f"{address}/{path}")
            page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning] h1")
            act(page)
            page.wait_for_timeout(4000)  # charts and tables are drawn after the script has ended
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            picture.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
                ROOT / "docs/images" / f"{name}.png", optimize=True
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
