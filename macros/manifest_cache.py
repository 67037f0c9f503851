"""Manifests kept between builds: one whose bytes are those of the last build is not parsed again.

All are in one file: a line with a hash of the reading code and of the rest, then for each manifest a line with a hash
of its content and the manifest as JSON. JSON cannot run code, and pydantic checks it against the model again. Only
manifests without problems are kept, since the messages need their text.
"""

import contextlib
import hashlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import TypeVar

import pydantic
import pydantic_core
from yaml import __version__ as yaml_version
from yaml import _yaml

from macros import kept, manifests
from macros.manifests import Manifest
from macros.problems import Problem

# Whatever decides what a manifest's bytes mean: a change in one of them makes every manifest be read anew.
SOURCES = (
    "manifest_cache",
    "kept",
    "manifests",
    "decimals",
    "places",
    "strict_yaml",
    "scalars",
    "vocabulary",
    "problems",
)
_KEY = 64  # hexadecimal digits of a hash
M = TypeVar("M", bound=Manifest)


class ManifestCache:
    """Reads like `manifests.of_bytes`, from what its file kept where it can; `save` keeps what was read.

    A file that is not as it was written counts as none.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept = _entries(file)
        self._read: dict[bytes, bytes] = {}

    def of_bytes(self, raw: bytes, file: str, stem: str, kind: type[M]) -> tuple[M | None, list[Problem]]:
        """One manifest, or None with all its problems."""
        # The name is part of the content: it has to be the manifest's id.
        content = b"%s %s\n%s" % (kind.__name__.encode(), os.fsencode(stem), raw)
        key = hashlib.sha256(content).hexdigest().encode()
        line = self._kept.get(key)
        if line is not None:
            # Not even a forged file is a reason to stop.
            with contextlib.suppress(pydantic.ValidationError):
                manifest = kind.model_validate_json(line[_KEY:])
                self._read[key] = line
                return manifest, []
        read, problems = manifests.of_bytes(raw, file, stem, kind)
        if read is not None:
            # With defaults left out, the fields that the manifest set are known afterwards too.
            self._read[key] = b"%s %s\n" % (key, read.model_dump_json(exclude_unset=True).encode())
        return read, problems

    def save(self) -> None:
        """Replaces the file if anything changed; where it cannot be written, the next build reads everything."""
        if self._read == self._kept:
            return
        kept.write(self._file, b"".join(self._read.values()), _reading_state())


def _entries(file: Path) -> dict[bytes, bytes]:
    """The line of each manifest by the hash of its content; nothing where the file is not as this code wrote it."""
    body = kept.read(file, _reading_state()) or b""
    return {line[:_KEY]: line for line in body.splitlines(keepends=True)}


@cache
def _reading_state() -> bytes:
    """A hash of the code that reads manifests and of the versions of what it stands on."""
    libraries = (pydantic.VERSION, pydantic_core.__version__, yaml_version, _yaml.get_version_string())
    state = hashlib.sha256(repr((sys.version, *libraries)).encode())
    for name in SOURCES:
        state.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return state.digest()
