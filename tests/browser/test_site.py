"""The site as a whole."""

from typing import Any

import pytest

PAGES = ("overview", "run", "instances", "what-if", "compare")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_from_disk_without_network(visit: Any, shown: Any, page: str) -> None:
    opened = visit(shown.page, f"#/{page}")
    opened.wait_for_selector(f".page-{page} h1")
    assert opened.locator(".problem").count() == 0
