"""Builds the site beside site/ and swaps it in only when everything passed: `python -m macros.build`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    """0 when site/ is the new site; otherwise site/ is as it was."""
    root = Path.cwd()
    workshop = root / ".build"
    workshop.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=workshop) as folder:
        fresh, last = Path(folder) / "site", Path(folder) / "last"
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(fresh)]
        if subprocess.run(command, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=False).returncode:
            print("The site was not built; site/ is as it was.", file=sys.stderr)
            return 1
        current = root / "site"
        if current.exists():
            current.rename(last)
        fresh.rename(current)
        shutil.rmtree(last, ignore_errors=True)
    print("Built site/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
