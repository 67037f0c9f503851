"""What a first view transfers: bytes and requests, gzipped, headers included. Times are printed by `make bench`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import measure
from tests.test_access import PATHS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

EXPLAINER, OTHER = 100_000, 150_000
REQUESTS = 15

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[measure.Gzipped]:
    with measure.gzipped(site) as server:
        yield server


@pytest.fixture(scope="module")
def phone(browser: Browser) -> Iterator[measure.Phone]:
    with measure.phone(browser, slow=False) as phone:
        yield phone


@pytest.mark.parametrize("path", PATHS)
def test_the_first_view_is_light(path: str, server: measure.Gzipped, phone: measure.Phone) -> None:
    weight = phone.first_view(server, path)
    allowed = EXPLAINER if path in ("", "ru/") else OTHER
    assert weight.bytes <= allowed, server.sent
    assert 5 < weight.requests <= REQUESTS, server.sent
    assert any("bundle" in name for name, _ in server.sent), "the theme's script counts"
    assert weight.foreign == ()
    assert weight.shift <= 0.02


def test_blocking_is_what_tasks_take_beyond_fifty_milliseconds() -> None:
    tasks = [(0.0, 100.0), (200.0, 80.0), (300.0, 50.0)]
    assert measure.blocking(tasks, 0) == 50 + 30
    # Of the first, the 60 ms after the 40th count, of the second all; then nothing is left.
    assert measure.blocking(tasks, 40) == 10 + 30
    assert measure.blocking(tasks, 350) == 0
