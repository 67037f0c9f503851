"""What each page weighs and how fast it stands, as a table: `python tests/measure.py [site] [page …]`.

Bytes and requests are what a server sends gzipped for the first view, counted there. The times are those of an
emulated phone (1.6 Mbit/s, 150 ms, a processor slowed four times): medians of `VIEWS` views, since they depend
on what else the machine does that emulates it.
"""

from __future__ import annotations

import contextlib
import gzip
import http.server
import os
import statistics
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TEXTS = (".html", ".css", ".js", ".json", ".svg", ".xml", ".txt", ".md", ".csv", ".map")
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".xml": "application/xml",
}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
NETWORK = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 0.75e6 / 8}
OBSERVE = """
window.seen = {first: 0, paint: 0, shift: 0, tasks: []};
new PerformanceObserver(l => { for (const e of l.getEntriesByName("first-contentful-paint")) seen.first = e.startTime })
  .observe({type: "paint", buffered: true});
new PerformanceObserver(l => { for (const e of l.getEntries()) seen.paint = e.startTime })
  .observe({type: "largest-contentful-paint", buffered: true});
new PerformanceObserver(l => { for (const e of l.getEntries()) if (!e.hadRecentInput) seen.shift += e.value })
  .observe({type: "layout-shift", buffered: true});
new PerformanceObserver(l => { for (const e of l.getEntries()) seen.tasks.push([e.startTime, e.duration]) })
  .observe({type: "longtask", buffered: true});
"""
VIEWS = 3
AXE_RULES = {"resultTypes": ["violations"]}
# axe takes what is laid out late, far below the screen, for something else.
LAY_OUT = """() => {
  for (const late of document.querySelectorAll("main :is(.entry, figure.chart, tr, p, .table)")) {
    late.style.contentVisibility = "visible";
  }
}"""


@dataclass
class Gzipped:
    """A server over a site that sends texts gzipped and keeps what it sent, headers included."""

    address: str
    sent: list[tuple[str, int]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


@contextlib.contextmanager
def gzipped(site: Path) -> Iterator[Gzipped]:
    """Serves `site` as a usual host of static files does."""
    packed: dict[Path, bytes] = {}
    log = Gzipped("")

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = site / self.path.split("?")[0].lstrip("/")
            path = path / "index.html" if path.is_dir() else path
            if not path.is_file():
                log.missing.append(self.path)
                self.send_error(404)
                return
            text = path.suffix in TEXTS
            if path not in packed:
                packed[path] = gzip.compress(path.read_bytes(), 6) if text else path.read_bytes()
            body = packed[path]
            head = [
                "HTTP/1.1 200 OK",
                f"Content-Type: {TYPES.get(path.suffix, 'application/octet-stream')}",
                f"Content-Length: {len(body)}",
                "Cache-Control: max-age=600",
                *(["Content-Encoding: gzip"] if text else []),
            ]
            answer = ("\r\n".join(head) + "\r\n\r\n").encode() + body
            log.sent.append((self.path, len(answer)))
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        log.address = f"http://127.0.0.1:{server.server_port}/"
        yield log
        server.shutdown()


@dataclass(frozen=True)
class Weight:
    """The first view of a page; times in milliseconds.

    `blocked` is the total blocking time by its definition, which begins with the first paint (until then there is
    nothing to touch); `held` counts from the start.
    """

    path: str
    bytes: int
    requests: int
    foreign: tuple[str, ...]
    paint: float
    shift: float
    blocked: float
    held: float


@dataclass
class Phone:
    """A page of a phone, and what it asked for."""

    page: Any
    session: Any
    slow: bool
    requested: list[str] = field(default_factory=list)

    def first_view(self, server: Gzipped, path: str) -> Weight:
        """Opens a page with an empty cache."""
        self.page.goto("about:blank")
        self.session.send("Network.clearBrowserCache")
        server.sent.clear()
        self.requested.clear()
        self.page.goto(server.address + path, wait_until="load")
        self.page.wait_for_timeout(1500 if self.slow else 200)
        seen = self.page.evaluate("seen")
        # The theme's script comes once the page is touched; it counts as part of the first view all the same, and so
        # does the last thing that it asks for, the worker of the search.
        with self.page.expect_response(lambda response: "/lazy-search.js" in response.url):
            self.page.keyboard.press("Shift")
        icon = self.page.evaluate("document.querySelector('link[rel=icon]')?.href")
        # A browser without a window asks for no icon.
        if icon and not any(icon.endswith(name) for name, _ in server.sent):
            self.page.evaluate("url => fetch(url, {cache: 'reload'}).then(r => r.blob())", icon)
        size = sum(length for _, length in server.sent)
        foreign = tuple(url for url in self.requested if not url.startswith((server.address, "about:", "data:")))
        blocked, held = (blocking(seen["tasks"], since) for since in (seen["first"], 0))
        return Weight(path, size, len(server.sent), foreign, seen["paint"], seen["shift"], blocked, held)


def blocking(tasks: list[tuple[float, float]], since: float) -> float:
    """What long tasks (start and duration, ms) take beyond 50 ms each, of their part after `since`."""
    return sum(max(0.0, start + duration - max(start, since) - 50) for start, duration in tasks)


@contextlib.contextmanager
def phone(browser: Any, slow: bool) -> Iterator[Phone]:
    """An emulated phone; a slow one has its network and its processor too."""
    context = browser.new_context(**PHONE)
    page = context.new_page()
    page.add_init_script(OBSERVE)
    found = Phone(page, context.new_cdp_session(page), slow)
    page.on("request", lambda request: found.requested.append(request.url))
    found.session.send("Network.enable")
    if slow:
        found.session.send("Network.emulateNetworkConditions", NETWORK)
        found.session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    yield found
    context.close()


def paths(site: Path) -> list[str]:
    """The paths of all pages, the explainer of each language first."""
    found = [p.relative_to(site).as_posix().removesuffix("index.html") for p in site.rglob("index.html")]
    return sorted(found, key=lambda path: (path.startswith("ru/"), path))


def axe_count(browser: Any, address: str, path: str) -> str:
    """The violations that axe reports in the page as it opens, by rule."""
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(address + path, wait_until="load")
    page.evaluate(LAY_OUT)
    found = Axe().run(page, options=AXE_RULES).response["violations"]
    context.close()
    return " ".join(f"{v['id']}:{len(v['nodes'])}" for v in found) or "0"


def main() -> None:
    from playwright.sync_api import sync_playwright

    from tests.conftest import CHROMIUM_ARGUMENTS, chromium

    site = Path(sys.argv[1] if len(sys.argv) > 1 else "site").resolve()
    chosen = sys.argv[2:] or paths(site)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    head = f"{'page':<20}{'KB':>8}{'requests':>10}{'paint ms':>10}{'shift':>8}"
    print(f"{head}{'blocked ms':>12}{'from the start':>16}  axe")
    with sync_playwright() as playwright, gzipped(site) as server:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(CHROMIUM_ARGUMENTS))
        for path in chosen:
            views = []
            for _ in range(VIEWS):
                # A new phone for each: nothing of another view is in its memory.
                with phone(browser, slow=True) as slow:
                    views.append(slow.first_view(server, path))
            paint, blocked, held = (
                statistics.median(getattr(view, name) for view in views) for name in ("paint", "blocked", "held")
            )
            shift = max(view.shift for view in views)
            row = f"{path or '/':<20}{views[0].bytes / 1000:>8.1f}{views[0].requests:>10}{paint:>10.0f}{shift:>8.3f}"
            print(f"{row}{blocked:>12.0f}{held:>16.0f}  {axe_count(browser, server.address, path)}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
