"""The same input makes the same bytes, wherever and whenever it is built; checksums come with the site."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import time
from pathlib import Path

import pytest

from tests.conftest import BUILT, BuildOnce, Tree

# So many bytes of each kept file are left: its hash, and some of what the hash is of.
LEFT = 100


def checksums(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="session")
def elsewhere(build_once: BuildOnce, site: Path) -> Path:
    """The same tree under a path with a blank, in another time zone, locale and order of sets, all kept files cut."""

    def age(tree: Tree) -> None:
        for path in (tree.root / ".cache").rglob("*"):
            if path.is_file():
                path.write_bytes(path.read_bytes()[:LEFT])
        for path in tree.root.rglob("*"):
            os.utime(path, (time.time() - 10**7, time.time() - 10**7))

    def build(tree: Tree) -> object:
        settings = {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "LANG": "C", "PYTHONHASHSEED": "77", "COLUMNS": "40"}
        settings |= {"SOURCE_DATE_EPOCH": BUILT}
        return Tree(tree.root).build(**settings)

    tree, outcome = build_once("a copy elsewhere", age, build)  # type: ignore[arg-type]
    assert outcome.ok, outcome.output
    return tree.site


def test_two_builds_are_the_same_bytes(site: Path, elsewhere: Path) -> None:
    here, there = checksums(site), checksums(elsewhere)
    assert {name for name in here.keys() | there.keys() if here.get(name) != there.get(name)} == set()
    assert any(name.endswith(".png") for name in here)


def test_no_damage_is_published_and_all_is_made_anew(elsewhere: Path) -> None:
    kept = elsewhere.parent / ".cache"
    for folder in ("charts", "templates", "schemas"):
        sizes = [path.stat().st_size for path in (kept / folder).iterdir()]
        assert any(size > LEFT for size in sizes), folder


def test_checksums_lie_beside_the_site(site: Path) -> None:
    listed = {}
    for line in (site / "checksums.txt").read_text("utf-8").splitlines():
        digest, name = line.split("  ", 1)
        listed[name] = digest
    found = checksums(site)
    del found["checksums.txt"]
    assert listed == found
    assert list(listed) == sorted(listed)


def test_no_file_holds_the_time_of_its_building(site: Path) -> None:
    day = time.strftime("%Y-%m-%d", time.gmtime(int(BUILT)))
    assert set(re.findall(r"<lastmod>([^<]*)", (site / "sitemap.xml").read_text("utf-8"))) == {day}
    packed = (site / "sitemap.xml.gz").read_bytes()
    assert gzip.decompress(packed) == (site / "sitemap.xml").read_bytes()
    assert int.from_bytes(packed[4:8], "little") // 86400 == int(BUILT) // 86400


def test_no_file_names_the_folder_it_was_built_in(site: Path, elsewhere: Path) -> None:
    for path in site.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert str(site.parent).encode() not in content, path.name
            assert elsewhere.parent.name.encode() not in content, path.name
