"""The pieces of one large file, worked on by several processes.

Threads would not do: searching and counting hold the interpreter's lock. A process that is forked starts at once, with
all modules loaded and without a copy of their memory. Where there is no safe fork, and for a single piece, the work is
done here, piece by piece: the results are the same, since they depend on the pieces only.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
# Reading ahead of the one process that hashes is of no use.
MOST = 4


def processes() -> int:
    return min(len(os.sched_getaffinity(0)), MOST) if sys.platform == "linux" else 1


def in_order(work: Callable[[Item], Result], items: Sequence[Item]) -> Generator[Result]:
    """work(item) of every item. Close the iterator to end its processes early.

    A process that fails or is killed is not waited for and nothing of it is guessed: its items are worked on here, so
    that an error that was no accident comes up as it would without processes.
    """
    count = min(processes(), len(items))
    children: list[tuple[multiprocessing.process.BaseProcess, Connection]] = []
    try:
        for number in range(count if count > 1 else 0):
            children.append(_start(work, items[number::count]))
        for number, item in enumerate(items):
            received = _received(children[number % count][1]) if children else None
            yield received[0] if received else work(item)
    finally:
        for child, results in children:
            results.close()
            child.kill()
            child.join()


def _start(
    work: Callable[[Item], Result], items: Sequence[Item]
) -> tuple[multiprocessing.process.BaseProcess, Connection]:
    context = multiprocessing.get_context("fork")
    results, to_parent = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(work, items, results, to_parent), daemon=True)
    child.start()
    # The child's end must be open in the child only: then it closes when the child dies, however it dies.
    to_parent.close()
    return child, results


def _received(results: Connection) -> tuple[Any] | None:
    """The next result, or None for ever where there is none to come."""
    try:
        return None if results.closed else results.recv()
    except (EOFError, OSError):
        results.close()
        return None


def _work(work: Callable[[Item], Result], items: Sequence[Item], results: Connection, to_parent: Connection) -> None:
    # Ctrl-C reaches all processes of a terminal; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Without a parent to read them, results find a closed pipe, and the child ends.
    results.close()
    with contextlib.suppress(Exception):
        for item in items:
            to_parent.send((work(item),))
