"""A log in pieces and in processes: the same as in one piece in one process, whatever becomes of the processes."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macros import importers
from macros.importers import parallel, streams
from macros.importers.rawfile import RawFile
from macros.importers.reading import Extract
from macros.problems import InputError
from tests import import_fixtures as fixtures
from tests.import_fixtures import write

FORKS = sys.platform == "linux"
pytestmark = pytest.mark.skipif(not FORKS, reason="elsewhere all work is done in one process")
ARGUMENTS, CONFIG, _, BACKEND, _, REQUEST, *NUMBERS = fixtures.VLLM_LOG.splitlines()
V0 = (
    "INFO 10-16 19:05:47 metrics.py:367] Speculative metrics: Draft acceptance rate: 0.500, System efficiency: 0.598, "
    "Number of speculative tokens: 3, Number of accepted tokens: 90, Number of draft tokens: 180"
)
LINES = [
    *[ARGUMENTS, CONFIG, CONFIG.replace("fp8", "auto"), BACKEND, BACKEND.replace("B12X", "MARLIN"), REQUEST, ""],
    *[*NUMBERS, NUMBERS[2].replace("Running: 1", "Running: 12"), NUMBERS[2].replace("Engine 000", "Engine 001")],
    *["x" * 700, "é — ü", "INFO JIT compilation during inference: kernel x", V0],
    CONFIG + " rejection_sample_method='synthetic'",
]


def outcome(path: Path, piece: int, processes: int) -> Extract | str:
    """What the log holds, or why it is refused."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("PIECE", piece), ("BLOCK", 300), ("START_BYTES", 2000), ("BEFORE_BYTES", 500)):
            patch.setattr(streams, name, value)
        patch.setattr(parallel, "processes", lambda: processes)
        seen: list[int] = []
        try:
            found = importers._log(importers.vllm_log.read, RawFile.open(path), seen.append)
        except InputError as error:
            return str(error)
    assert sum(seen) == path.stat().st_size
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(LINES), min_size=1, max_size=60),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(0, 40),
    st.integers(1, 2000),
)
def test_pieces_of_any_size_in_any_number_of_processes(lines: list[str], end: str, cut: int, piece: int) -> None:
    """Borders fall into lines, on their ends and between carriage return and line feed; the last line is cut off."""
    content = end.join(lines).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server.log"
        path.write_bytes(content[: max(1, len(content) - cut)] or b"\n")
        whole = outcome(path, 1 << 30, 1)
        assert outcome(path, piece, 1) == whole
        assert outcome(path, piece, 3) == whole


@pytest.mark.parametrize("size", [1, 2, 64, 65, 199, 200, 201, 1 << 20])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_pieces_are_whole_lines_and_the_whole_file(
    tmp_path: Path, size: int, end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "PIECE", size)
    content = b"first\r\n" + b"y" * 190 + b"\n\n\n" + b"z" * 63 + b"\nlast" + end
    path = tmp_path / "a.log"
    path.write_bytes(content)
    cuts = streams.pieces(path, len(content))
    assert b"".join(content[start:stop] for start, stop in cuts) == content
    assert all(content[:start].endswith(b"\n") for start, _ in cuts[1:])
    assert [stop for _, stop in cuts[:-1]] == [start for start, _ in cuts[1:]]


def test_a_line_that_never_ends_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BLOCK", 10)
    monkeypatch.setattr(streams, "PIECE", 100)
    path = write(tmp_path, "a.log", "x" * 350)
    assert streams.pieces(path, 350) == [(0, 139), (139, 239), (239, 339), (339, 350)]


def test_a_small_log_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(parallel, "_start")
    importers.extract(RawFile.open(write(tmp_path, "server.log", fixtures.VLLM_LOG)), {})


def test_results_come_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "processes", lambda: 3)
    results = list(parallel.in_order(lambda item: (item, os.getpid()), range(20)))
    assert [item for item, _ in results] == list(range(20))
    assert len({process for _, process in results} - {os.getpid()}) == 3
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("how", ["killed", "raises", "sends half"])
def test_a_process_that_fails_is_replaced(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = os.getpid()

    def send_half(connection: Connection, message: bytes) -> None:
        connection._send(len(message).to_bytes(4, "big") + message[:9])
        os._exit(0)

    def work(item: int) -> str:
        if item == 7 and os.getpid() != here:
            if how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "raises":
                raise MemoryError
            monkeypatch.setattr(Connection, "_send_bytes", send_half)
        return "x" * item * 10_000

    monkeypatch.setattr(parallel, "processes", lambda: 2)
    assert list(parallel.in_order(work, range(20))) == ["x" * item * 10_000 for item in range(20)]


def test_an_error_that_is_no_accident_comes_up(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parallel, "processes", lambda: 2)
    results = parallel.in_order(lambda item: 1 // (3 - item), range(9))
    assert [next(results) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert multiprocessing.active_children() == []
    assert capfd.readouterr() == ("", "")


def test_an_interrupted_scan_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "processes", lambda: 2)
    monkeypatch.setattr(streams, "PIECE", 300)
    running = []

    def interrupt(count: int) -> None:
        running.extend(multiprocessing.active_children())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        importers.extract(RawFile.open(write(tmp_path, "server.log", fixtures.VLLM_LOG)), {}, interrupt)
    assert running
    assert multiprocessing.active_children() == []
