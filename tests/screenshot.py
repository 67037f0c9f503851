"""Takes the picture of the start page that README shows: `make picture`."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    handler = functools.partial(Quiet, directory=str(ROOT / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser_path = next(path for name in CHROMIUM_NAMES if (path := shutil.which(name)))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(f"http://127.0.0.1:{server.server_port}/")
            page.screenshot(path=ROOT / ".github/start-page.png")
            browser.close()
        server.shutdown()


if __name__ == "__main__":
    main()
