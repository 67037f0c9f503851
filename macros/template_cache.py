"""The theme's compiled templates, kept between builds: jinja2's own cache runs or chokes on whatever it finds."""

import sys
from importlib.metadata import version
from pathlib import Path

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from macros import kept

# jinja2 compares the source of a template, but not by what it was compiled.
_STATE = f"{sys.version} {version('jinja2')}".encode()


class TemplateCache(BytecodeCache):
    """Keeps each template's bytecode in a folder, and loads none that is not as it was written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load_bytecode(self, bucket: Bucket) -> None:
        bytecode = kept.read(self._folder / bucket.key, _STATE)
        if bytecode is not None:
            bucket.bytecode_from_string(bytecode)

    def dump_bytecode(self, bucket: Bucket) -> None:
        kept.write(self._folder / bucket.key, bucket.bytecode_to_string(), _STATE)
