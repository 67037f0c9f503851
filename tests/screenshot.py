"""Takes the picture of the start page that README shows: `make picture`."""

from __future__ import annotations

import functools
import http.server
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.conftest import CHROMIUM_ARGUMENTS, chromium

ROOT = Path(__file__).parent.parent


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    handler = functools.partial(Quiet, directory=str(ROOT / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=list(CHROMIUM_ARGUMENTS))
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(f"http://127.0.0.1:{server.server_port}/")
            page.screenshot(path=ROOT / ".github/start-page.png")
            browser.close()
        server.shutdown()


if __name__ == "__main__":
    main()
