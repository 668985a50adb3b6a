"""Where the page of a rule can be read."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, metadata


def page_url(name: str) -> str | None:
    """The address of the page of a rule, given by its name; None where the package does not say where its
    documentation is: it has no ``Documentation`` among its ``[project.urls]``."""
    address = _documentation()
    return f"{address.rstrip('/')}/rules/{name}.md" if address else None


@cache
def _documentation() -> str:
    try:
        urls = metadata("warp-lint").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    labelled: dict[str, str] = dict(url.split(", ", 1) for url in urls)
    return labelled.get("Documentation", "")
