"""Search and the not-found page in a real browser: loaded on use, in one's own language, word forms and numbers too."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


class Pages(http.server.SimpleHTTPRequestHandler):
    """Serves the site, and its 404.html for what is missing, as hosts of static sites do."""

    def log_message(self, *arguments: Any) -> None:
        pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        body = (Path(self.directory) / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="module")
def host(site: Path) -> Iterator[str]:
    """The address of a server that answers with the site's own not-found page."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """The same tab for all tests: a new one costs half a second."""
    yield tab
    tab.goto("about:blank")


def found(page: Page, host: str, words: str) -> list[str]:
    """The paths that a search finds."""
    page.goto(host)
    field = page.locator(".md-search__input")
    if not field.is_visible():
        page.locator("label[for=__search]").first.click()
    field.click()
    field.fill(words)
    field.dispatch_event("keyup")  # typing Cyrillic fires none here, and the theme waits for it
    page.wait_for_selector(".md-search-result__link", timeout=10_000)
    return [
        str(path) for path in page.eval_on_selector_all(".md-search-result__link", "all => all.map(a => a.pathname)")
    ]


@pytest.mark.parametrize("words", ["токенов", "токенами", "скорость", "59.7", "backend", "шаг верификации"])
def test_a_russian_page_finds_russian_pages_only(page: Page, host: str, words: str) -> None:
    paths = found(page, f"{host}ru/", words)
    assert paths
    assert all(path.startswith("/ru/") for path in paths), paths


@pytest.mark.parametrize("words", ["backend", "59.7", "drafted tokens", "measuring"])
def test_an_english_page_finds_english_pages_only(page: Page, host: str, words: str) -> None:
    paths = found(page, f"{host}method/", words)
    assert paths
    assert not any(path.startswith("/ru/") for path in paths), paths


def test_word_forms_and_both_spellings_find_the_same(page: Page, host: str) -> None:
    pages = [set(found(page, f"{host}ru/", words)) for words in ("тяжелый", "тяжёлый")]
    assert pages[0] == pages[1]
    assert "/ru/" in pages[0]


def test_nothing_of_the_search_loads_before_it_is_used(browser: Browser, host: str) -> None:
    loaded: list[str] = []
    page = browser.new_page()
    page.on("request", lambda request: loaded.append(request.url))
    page.goto(host)
    page.wait_for_timeout(500)
    assert not [url for url in loaded if "search_index" in url or "workers/search" in url or "lunr" in url]
    found(page, host, "kernel")
    assert [url for url in loaded if "search_index" in url]
    page.close()


@pytest.mark.parametrize(
    ("path", "title", "back"),
    [
        ("no-such-page/", "There is no such page", "/"),
        ("ru/no-such-page/", "Такой страницы нет", "/ru/"),
        ("figures/deep/down/", "There is no such page", "/"),
    ],
)
def test_a_missing_page_speaks_the_visitors_language(page: Page, host: str, path: str, title: str, back: str) -> None:
    answer = page.goto(host + path)
    assert answer is not None
    assert answer.status == 404
    assert page.locator("h1:visible").all_inner_texts() == [title]
    assert page.evaluate("document.documentElement.lang") == ("ru" if path.startswith("ru/") else "en")
    page.locator(".not-found:visible a").first.click()
    page.wait_for_load_state()
    assert page.evaluate("location.pathname") == back
    assert page.locator(".not-found").count() == 0
