"""The workflow that releases: pinned, and with no more rights than it needs."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

FILES = sorted((ROOT / ".github/workflows").glob("*.yml"))
JOBS = [
    pytest.param(job, id=f"{path.stem}/{name}")
    for path in FILES
    for name, job in yaml.safe_load(path.read_text("utf-8"))["jobs"].items()
]


def test_actions_are_pinned_by_commit_and_say_their_version() -> None:
    for path in FILES:
        for line in path.read_text("utf-8").splitlines():
            if "uses:" in line:
                assert re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$", line), line


@pytest.mark.parametrize("job", JOBS)
def test_a_job_that_runs_the_projects_code_may_only_read(job: dict[str, Any]) -> None:
    runs_code = any("run" in step or "checkout" in step.get("uses", "") for step in job["steps"])
    rights = job["permissions"]
    if runs_code:
        assert rights == {"contents": "read"}
    assert rights.get("contents", "read") == "read"
    # Pages are written by one job, which runs for main only.
    if "pages" in rights:
        assert job["if"] == "github.event_name == 'push'"
        assert [step["uses"].split("@")[0] for step in job["steps"]] == ["actions/deploy-pages"]


def test_what_is_installed_is_audited_before_it_is_deployed() -> None:
    jobs = {name: job for path in FILES for name, job in yaml.safe_load(path.read_text("utf-8"))["jobs"].items()}
    audit = next(s["with"] for s in jobs["audit"]["steps"] if s["uses"].startswith("pypa/gh-action-pip-audit@"))
    locks = {path.name for path in ROOT.glob("*.lock")}
    assert set(audit["inputs"].split()) == locks
    assert locks >= set(re.findall(r"-r (\S+\.lock)", (ROOT / "Makefile").read_text("utf-8"))) != set()
    assert audit["require-hashes"] is True
    assert "audit" in jobs["deploy"]["needs"]


def test_nothing_is_allowed_by_default_and_no_text_of_a_stranger_becomes_code() -> None:
    for path in FILES:
        text = path.read_text("utf-8")
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {}
        assert "pull_request_target" not in text
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                assert "${{" not in step.get("run", "") + step.get("with", {}).get("script", "")
                if "checkout" in step.get("uses", ""):
                    assert step["with"]["persist-credentials"] is False


def test_the_changelog_says_what_is_new() -> None:
    assert "## Unreleased" in (ROOT / "CHANGELOG.md").read_text("utf-8")
