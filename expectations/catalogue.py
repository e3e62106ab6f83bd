"""Catalogue of all expectations, and the reference page that lists them."""

from pathlib import Path
from typing import Final

from dropline.expectations.suite import LAKE, MARTS, SEVERITIES

SUITES: Final = (*LAKE, *MARTS)


def reason_of(code: str) -> str:
    """Return the reason for the expectation behind the finding `code`."""
    return next(suite.expectations[code].why for suite in SUITES if code in suite.expectations)


def page() -> str:
    """Return docs/reference/quality.md: every expectation with its severity and reason."""
    import jinja2  # not needed by builds

    template = Path(__file__).with_name("page.md").read_text("utf-8")
    markdown = jinja2.Template(template, trim_blocks=True, keep_trailing_newline=True)
    return markdown.render(suites=SUITES, severities=SEVERITIES)


if __name__ == "__main__":
    print(page(), end="")
