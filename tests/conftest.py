"""What the tests share: copies of the project to change, the real site built once a session, a real browser.

A `Tree` is a copy of the project in a temporary folder. `check` reads data and pages as `results check` does, in
well under a second; `build` is the whole of `make site` and takes seconds, so few tests use it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from lxml import html

from macros import checks
from macros.problems import InputError
from macros.site import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# How fast a machine is decides nothing.
hypothesis.settings.register_profile(
    "suite", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("suite")

ROOT = Path(__file__).parents[1]
# What a build reads; what is not there yet is left out.
TRACKED = (
    "docs",
    "results",
    "macros",
    "overrides",
    ".github",
    "mkdocs.yml",
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
)
LANGUAGES = ("en", "ru")
# The time at which the real site says it was built, in seconds since 1970.
BUILT = "1790000000"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # No test reaches another host, whatever a page asks for.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
WIDE = {"width": 1280, "height": 900}


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit code and all that it printed."""

    code: int
    output: str

    @property
    def ok(self) -> bool:
        return self.code == 0


@dataclass(frozen=True)
class Tree:
    """A copy of the project that a test may change."""

    root: Path
    # What another build kept: with it, drawings that did not change are not drawn again.
    cache: Path | None = None

    @staticmethod
    def copy(root: Path, cache: Path | None = None) -> Tree:
        root.mkdir(parents=True, exist_ok=True)
        for name in TRACKED:
            source = ROOT / name
            if source.is_dir():
                # Compiled modules come along: they count only as long as their source is the same.
                shutil.copytree(source, root / name)
            elif source.exists():
                shutil.copy2(source, root / name)
        return Tree(root, cache)

    @property
    def site(self) -> Path:
        return self.root / "site"

    def read(self, file: str) -> str:
        return (self.root / file).read_text("utf-8")

    def write(self, file: str, text: str | bytes) -> None:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def edit(self, file: str, old: str, new: str) -> None:
        """Replaces every occurrence of `old`, which must occur: a test must not pass because nothing was changed."""
        before = self.read(file)
        assert old in before, f"{old!r} does not occur in {file}"
        self.write(file, before.replace(old, new))

    def append(self, file: str, text: str) -> None:
        self.write(file, self.read(file) + text)

    def remove(self, file: str) -> None:
        (self.root / file).unlink()

    def line_of(self, file: str, text: str) -> int:
        """The number of the first line that holds `text`, counted from 1."""
        return next(n for n, line in enumerate(self.read(file).split("\n"), 1) if text in line)

    def checked(self) -> Site:
        """The input of the site; raises InputError as a build would stop."""
        return checks.checked(self.root)[0]

    def check(self) -> Outcome:
        """What `results check` finds, without a new process."""
        try:
            self.checked()
        except InputError as error:
            return Outcome(1, str(error))
        return Outcome(0, "")

    def run(self, *arguments: str, **settings: str) -> Outcome:
        """Runs Python in this tree, with this tree's package and these environment variables."""
        environment = {k: v for k, v in os.environ.items() if k != "SITE_URL"} | {"PYTHONPATH": str(self.root)}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env=environment | settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Outcome(done.returncode, done.stdout)

    def take_cache(self) -> None:
        if self.cache and self.cache.is_dir() and not (self.root / ".cache").exists():
            shutil.copytree(self.cache, self.root / ".cache")

    def build(self, **settings: str) -> Outcome:
        """What `make site` does once the environment is there."""
        self.take_cache()
        return self.run("-m", "macros.build", **settings)


# Readers of built pages


def page_file(site: Path, language: str, name: str = "") -> Path:
    """The file of a built page: `page_file(site, "ru", "figures")` is site/ru/figures/index.html."""
    return site / ("" if language == "en" else language) / name / "index.html"


def read_page(site: Path, language: str, name: str = "") -> Any:
    """A built page as an lxml tree."""
    return html.document_fromstring(page_file(site, language, name).read_text("utf-8"))


def data_elements(tree: Any, figure_id: str) -> list[Any]:
    """Every <data class="figure"> of a figure on a page."""
    return [e for e in tree.iter("data") if e.get("data-figure") == figure_id and e.get("class") == "figure"]


def data_texts(page: Any, figure_id: str) -> list[str]:
    """The printed texts of a figure on a page, in order; the page is an lxml tree or HTML text."""
    tree = html.document_fromstring(page) if isinstance(page, str) else page
    return [element.text_content() for element in data_elements(tree, figure_id)]


# Fixtures


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def session_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all workers of this session."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


BuildOnce = Callable[[str, Callable[[Tree], None], Callable[[Tree], Outcome]], tuple[Tree, Outcome]]


@pytest.fixture(scope="session")
def build_once(session_folder: Path) -> BuildOnce:
    """Builds a changed copy once for all workers: `build_once("name", change, Tree.build)`; only read it."""

    def once(name: str, change: Callable[[Tree], None], build: Callable[[Tree], Outcome]) -> tuple[Tree, Outcome]:
        root, log = session_folder / name, session_folder / f"{name}.json"
        with _locked(session_folder / f"{name}.lock"):
            if not log.exists():
                shutil.rmtree(root, ignore_errors=True)
                tree = Tree.copy(root, session_folder / "real" / ".cache")
                tree.take_cache()
                change(tree)
                log.write_text(json.dumps(dataclasses.asdict(build(tree))), "utf-8")
        return Tree(root), Outcome(**json.loads(log.read_text("utf-8")))

    return once


def _take_drawings(tree: Tree) -> None:
    """Drawings that the last `make site` kept are not drawn again: each is found by what it was drawn from."""
    # Not the manifests beside them: other workers may be replacing that file at this moment.
    if (ROOT / ".cache/charts").is_dir():
        shutil.copytree(ROOT / ".cache/charts", tree.root / ".cache/charts")


@pytest.fixture(scope="session")
def site(build_once: BuildOnce) -> Path:
    """The built real site: read it, never change it. The first worker that asks builds it for all."""
    tree, outcome = build_once("real", _take_drawings, lambda tree: tree.build(SOURCE_DATE_EPOCH=BUILT))
    assert outcome.ok, f"the real site does not build:\n{outcome.output}"
    return tree.site


@pytest.fixture
def tree(tmp_path: Path, session_folder: Path) -> Tree:
    """A fresh copy of the project to change, check and build."""
    return Tree.copy(tmp_path / "tree", session_folder / "real" / ".cache")


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, Any]:
    """The built explainer in both languages, as lxml trees."""
    return {language: read_page(site, language) for language in LANGUAGES}


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server over a folder, with a slash at the end."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """The address of a server over the built real site."""
    with served(site) as address:
        yield address


def chromium() -> str | None:
    """The browser to use: the one that CHROMIUM names, else the first that is installed."""
    names = [name for name in (os.environ.get("CHROMIUM"), *CHROMIUM_NAMES) if name]
    return next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    path = chromium()
    assert path, "no Chromium is installed: run `sh tests/need-chromium.sh`"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_ARGUMENTS))
        yield running
        running.close()


@dataclass
class Watched:
    """A browser page, with what it asked for, errors in its console, and what there was no answer to."""

    page: Page
    address: str
    requested: list[str]
    errors: list[str]
    missing: list[str]

    @property
    def foreign(self) -> list[str]:
        """Requests to other hosts, where none arrives."""
        return [url for url in self.requested if not url.startswith((self.address, "about:", "data:", "blob:"))]

    def open(self, path: str = "") -> Page:
        self.page.goto(self.address + path, wait_until="load")
        return self.page

    def assert_clean(self) -> None:
        assert not self.errors
        assert not self.foreign
        assert not self.missing


@contextlib.contextmanager
def watching(browser: Browser, address: str, **context_settings: Any) -> Iterator[Watched]:
    """A fresh page that remembers what must not happen."""
    context = browser.new_context(**{"viewport": WIDE, **context_settings})
    page = context.new_page()
    found = Watched(page, address, [], [], [])
    page.on("request", lambda r: found.requested.append(r.url))
    page.on("console", lambda m: found.errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: found.errors.append(str(e)))
    page.on("response", lambda r: found.missing.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    yield found
    context.close()


@pytest.fixture(scope="session")
def tab(browser: Browser, address: str) -> Iterator[Watched]:
    with watching(browser, address) as found:
        yield found


@pytest.fixture
def watched(tab: Watched) -> Iterator[Watched]:
    """A page over the real site, 1280 × 900, that keeps nothing of other tests but files that it fetched.

    It is the same tab for all of them: a new one costs half a second.
    """
    yield tab
    tab.page.emulate_media(media="null", color_scheme="null", reduced_motion="null")
    tab.page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    tab.page.evaluate("try { localStorage.clear(); sessionStorage.clear() } catch {}")
    tab.page.goto("about:blank")
    tab.page.mouse.move(-1, -1)
    tab.requested, tab.errors, tab.missing = [], [], []
