"""Logs of any size in constant memory, at the speed of a memory search.

A block is searched for byte strings in C. What stands on many lines is then taken by one expression over the block, so
that such a line costs no step of Python; the few lines of a server's start are cut out one by one. Each byte string
costs a pass over the block, and a long one costs less than a short one, so the lines of a start are only searched for
near a start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

# Small enough to stay in a processor's cache for all passes over it.
BLOCK = 1 << 18
# A line may hold megabytes of progress bar; what is wanted stands in the first part of a line.
MAX_LINE = 1 << 16
# How far behind the log's beginning, or behind a mark of a start, the lines of a server's start are looked for.
START_BYTES = 1 << 26
# How far before a mark: the arguments stand a few lines above it.
BEFORE_BYTES = 1 << 20
# What one process reads at a time. The pieces of a file never depend on the number of processes.
PIECE = 1 << 24


@dataclass(frozen=True)
class Block:
    """Whole lines: data[:size], the first of them `offset` bytes into the file. Valid until the next block is read."""

    data: bytearray
    size: int
    offset: int

    def has(self, needle: bytes) -> bool:
        return self.data.find(needle, 0, self.size) >= 0

    def count(self, needle: bytes) -> int:
        return self.data.count(needle, 0, self.size)

    def span(self, needle: bytes) -> tuple[int, int] | None:
        """Where in the file the needle stands first and last."""
        first = self.data.find(needle, 0, self.size)
        return (self.offset + first, self.offset + self.data.rfind(needle, 0, self.size)) if first >= 0 else None

    def find_all(self, needle: bytes, pattern: re.Pattern[bytes]) -> list[tuple[bytes, ...]]:
        """The groups of every match. `pattern` has two groups or more; each match's line holds `needle`.

        Looking for the needle first makes a block without one several times as fast.
        """
        at = self.data.find(needle, 0, self.size)
        return pattern.findall(self.data, self.data.rfind(b"\n", 0, at) + 1, self.size) if at >= 0 else []

    def lines(self, needles: tuple[bytes, ...]) -> list[tuple[int, bytes]]:
        """(offset in bytes in the file, line without its end) of every line that holds one of the needles."""
        starts: set[int] = set()
        for needle in needles:
            at = self.data.find(needle, 0, self.size)
            while at >= 0:
                starts.add(self.data.rfind(b"\n", 0, at) + 1)
                end = self.data.find(b"\n", at, self.size)
                at = self.data.find(needle, end, self.size) if end >= 0 else -1
        lines = []
        for start in sorted(starts):
            end = self.data.find(b"\n", start, self.size)
            end = min(end if end >= 0 else self.size, start + MAX_LINE)
            lines.append((self.offset + start, bytes(self.data[start:end]).rstrip(b"\r")))
        return lines


def blocks(
    path: Path, progress: Callable[[int], None] | None = None, start: int = 0, end: int | None = None
) -> Iterator[Block]:
    """The file, or its bytes from `start` to `end`, in blocks of whole lines; a very long line is cut.

    `progress` is told the number of bytes of each block. Memory: a few blocks, whatever the file's size.
    """
    # One buffer for the whole file: allocating a block for each read would cost as much as searching it.
    buffer = bytearray(4 * BLOCK)
    view = memoryview(buffer)
    offset, kept = start, 0
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        while True:
            wanted = BLOCK if end is None else min(BLOCK, end - offset - kept)
            read = file.readinto(view[kept : kept + wanted]) or 0
            if progress:
                progress(read)
            filled = kept + read
            cut = buffer.rfind(b"\n", 0, filled) + 1
            if read and not cut and filled + BLOCK <= len(buffer):
                kept = filled
                continue
            # The last line may lack its end.
            cut = cut if read and cut else filled
            yield Block(buffer, cut, offset)
            kept, offset = filled - cut, offset + cut
            view[:kept] = bytes(view[cut:filled])
            if not read:
                return


def pieces(path: Path, size: int) -> list[tuple[int, int]]:
    """(start, end) in bytes of pieces of whole lines, all of them together the first `size` bytes of the file."""
    with path.open("rb") as file:
        starts = [0, *[_next_line(file, at) for at in range(PIECE, size, PIECE)], size]
    return [(start, min(end, size)) for start, end in pairwise(starts) if start < end]


def _next_line(file: BinaryIO, offset: int) -> int:
    """Where the first line starts that starts at `offset` or behind; a very long line is cut there."""
    if not offset:
        return 0
    file.seek(offset - 1)
    return offset - 1 + len(file.readline(4 * BLOCK))


def lines_with(
    path: Path, needles: tuple[bytes, ...], progress: Callable[[int], None] | None = None
) -> Iterator[tuple[int, bytes]]:
    """(offset in bytes, line without its end) of every line that holds one of the needles."""
    for block in blocks(path, progress):
        yield from block.lines(needles)


def joined(marks: list[tuple[int, int]], span: tuple[int, int]) -> list[tuple[int, int]]:
    """The marks and those of a block behind them, in as many spans as the length of the file allows, however many."""
    if marks and span[0] - marks[-1][1] <= START_BYTES:
        return [*marks[:-1], (marks[-1][0], span[1])]
    return [*marks, span]


def lines_near(
    path: Path, needles: tuple[bytes, ...], marks: Iterable[tuple[int, int]] = ()
) -> Iterator[tuple[int, bytes]]:
    """The same near the file's beginning and near marks: BEFORE_BYTES before one, or START_BYTES behind.

    `marks` are offsets in rising order, as `joined` gives them: of several close together the first and last.
    """
    spans = [(0, START_BYTES)]
    for first, last in marks:
        start, end = spans[-1]
        if first - BEFORE_BYTES <= end:
            spans[-1] = (start, last + START_BYTES)
        else:
            spans.append((first - BEFORE_BYTES, last + START_BYTES))
    with path.open("rb") as file:
        for start, end in spans:
            for block in blocks(path, start=_next_line(file, start), end=_next_line(file, end)):
                yield from block.lines(needles)


class LineNumbers:
    """Line numbers of rising offsets. Only the few places that a manifest names are counted for."""

    def __init__(self, path: Path) -> None:
        self._path, self._offset, self._line = path, 0, 1

    def at(self, offset: int) -> int:
        """The line number, from 1, of the line that starts at `offset`."""
        with self._path.open("rb") as file:
            file.seek(self._offset)
            while self._offset < offset and (block := file.read(min(BLOCK, offset - self._offset))):
                self._line += block.count(b"\n")
                self._offset += len(block)
        return self._line
