"""Files kept for the next build: each begins with a hash of the rest, so that a damaged one counts as none.

Nothing here is a reason to stop: what cannot be read is made anew, and what cannot be written is not kept.
"""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

_HEAD = 65  # the hexadecimal digits of a hash, and the end of their line


def read(path: Path, state: bytes = b"") -> bytes | None:
    """What `write` put there under this name with the same state, or None."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    content = whole[_HEAD:]
    return content if whole[:_HEAD] == _head(path, state, content) else None


def write(path: Path, content: bytes, state: bytes = b"") -> None:
    """Keeps content. `state` stands for whatever else decides whether it may be used, such as the code that made it."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written aside and moved: a build that is cut off leaves no half file.
        handle, aside = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_head(path, state, content) + content)
            Path(aside).replace(path)
        finally:
            Path(aside).unlink(missing_ok=True)


def writable(folder: Path) -> bool:
    """Whether anything can be kept there."""
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return os.access(folder, os.W_OK) and folder.is_dir()


def _head(path: Path, state: bytes, content: bytes) -> bytes:
    # The name counts too: a file copied over another one is as wrong as a cut one.
    digest = hashlib.sha256(b"%s\n%s\n" % (os.fsencode(path.name), state))
    digest.update(content)
    return digest.hexdigest().encode() + b"\n"
