"""The site as a whole."""

from typing import Any

import pytest

PAGES = ("overview", "run", "instances", "what-if", "compare")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_from_disk_without_network(visit: Any, shown: Any, page: str) -> None:
    opened = visit(shown.page, f"#/{page}")
    opened.wait_for_selector(f".page-{page} h1")
    assert opened.locator(".problem").count() == 0


def test_the_chosen_instance_goes_along_from_page_to_page(visit: Any, shown: Any) -> None:
    id = shown.runs["sigmoid"].evidence.ids[3]
    page = visit(shown.page, f"#/instances/{shown.key('sigmoid')}?id={id}")
    page.wait_for_selector(".page-instances h1")
    page.click("#pages a:has-text('What if')")
    page.wait_for_selector(f".page-what-if :text('{id}')")
    page.click("#pages a:has-text('Instances')")
    page.wait_for_selector(".page-instances .heat")
    assert page.evaluate("heedful.route.now().query.get('id')") == id
    page.click("#pages a:has-text('Run')")
    page.wait_for_selector(".page-run h1")
    assert page.evaluate("heedful.route.now().query.size") == 0
