"""The command: manifests and drafts, twice, replaced, killed, and what never gets into a file."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from macros import files as writing
from macros import manifests, state
from macros.cli import main
from macros.manifests import COMPARED, Run
from tests import import_fixtures as fixtures
from tests.import_fixtures import write

ROOT = Path(__file__).resolve().parent.parent
# Everything that the fixture's file does not say, as an honest person states it.
SIDECAR = """\
system: {device: DGX Spark, nodes: 1, tensor_parallel: null}
model: {checkpoint: null, weights: null, revision: null}
runtime: {engine: vLLM, version: null, image: null, image_digest: null}
config: {moe_backend_requested: null, moe_backend_active: null, kv_cache_dtype: null, speculative_method: mtp}
workload: {profile: code, language: en, depth_tokens: 0, temperature: null, thinking: null}
method: {warm: true}
evidence: community_report
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path, "run.json", fixtures.VLLM)
    write(tmp_path, "lab.yaml", SIDECAR)
    write(tmp_path, "mkdocs.yml", "site_name: x\n")
    return tmp_path


def run(project: Path, *words: str) -> int:
    paths = [str(project / word) if word.endswith((".json", ".yaml", ".txt", ".log")) else word for word in words]
    return main(["import", *paths, "--root", str(project)])


def files(project: Path) -> dict[str, str]:
    folder = project / "results"
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_draft_lists_what_is_missing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(project, "run.json") == 3
    (name,) = files(project)
    assert name.startswith("drafts/model-1-vllm-bench-serve-c1-")
    out = capsys.readouterr().out
    assert "draft, not published" in out
    for key in ("workload.profile", "runtime.image_digest", "evidence", "config.moe_backend_active"):
        assert f"missing: {key} (" in out
    assert "# missing: workload.profile (--set workload.profile=code" in files(project)[name]


def test_a_finished_manifest_reads_back(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(project, "run.json", "--id", "mine")
    assert list(files(project)) == ["drafts/mine.yaml"]
    assert run(project, "run.json", "--with", "lab.yaml", "--id", "mine") == 0
    assert list(files(project)) == ["runs/mine.yaml"]
    manifest, problems = manifests.read(project / "results/runs/mine.yaml", "mine.yaml", Run)
    assert not problems
    assert manifest is not None
    assert manifest.workload.profile == "code"
    assert [m.id for m in manifest.measurements][:2] == ["aggregate", "ttft-mean"]
    decode = next(m for m in manifest.measurements if m.quantity == "decode_rate")
    assert manifests.as_measured(manifest, decode).method.window == "first_to_last_token"
    assert decode.read_from is not None
    assert (decode.read_from.source, decode.read_from.place) == ("run.json", "1000 / mean_tpot_ms")
    assert {s.name for s in manifest.sources} == {"run.json", "lab.yaml"}
    assert all(s.sha256 for s in manifest.sources)
    assert "decode_rate mean 25.0000 tok/s, n 1, client, first_to_last_token" in capsys.readouterr().out


def test_every_compared_key_must_be_stated(project: Path) -> None:
    """Each single one of them keeps the manifest a draft."""
    lines = SIDECAR
    for key in ("profile: code, ", "nodes: 1, ", "moe_backend_active: null, ", "image_digest: null", "warm: true"):
        write(project, "less.yaml", lines.replace(key, "").replace(", }", "}"))
        assert run(project, "run.json", "--with", "less.yaml", "--dry-run") == 3
    assert len(COMPARED) > 20


def test_set_overrules_and_checks_its_type(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--set", "workload.concurrency=2", "--set", "model.revision=0731", "--set", "method.warm=false")
    assert run(project, "run.json", "--with", "lab.yaml", "--id", "mine", *words) == 0
    text = files(project)["runs/mine.yaml"]
    assert "concurrency: 2\n" in text
    assert "revision: '0731'\n" in text
    assert "warm: false\n" in text
    bad = ("--set", "workload.concurrency=many", "--set", "nonsense=1", "--set", "x", "--set", "method.vantage=moon")
    assert run(project, "run.json", *bad) == 1
    error = capsys.readouterr().err
    assert "4 problems" in error
    assert "workload.concurrency" in error


def test_set_and_sidecars_are_cleaned(project: Path) -> None:
    words = ("--set", "system.device=/home/john/x", "--set", "runtime.image=registry.corp.local:5000/john/x")
    words += ("--set", r'runtime.driver="\x2fopt/john"')
    write(project, "more.yaml", 'runtime: {recipe: "host spark-john.local"}\n')
    assert run(project, "run.json", "--with", "lab.yaml", "--with", "more.yaml", "--id", "mine", *words) == 0
    text = files(project)["runs/mine.yaml"]
    assert "john" not in text
    for line in ("device: '[path]'", "image: '[address]'", "driver: '[path]'", "recipe: host [address]"):
        assert f"  {line}\n" in text


def test_two_files_that_disagree_are_a_problem(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        "launch.txt",
        'HF_TOKEN=hf_janejanejane vllm serve acme/Model-2 -tp 2 --speculative-config \'{"method": "mtp"}\'\n',
    )
    assert run(project, "run.json", "--with", "launch.txt") == 1
    error = capsys.readouterr().err
    assert (
        "expected acme/Model-1, as run.json says (model_id), or --set model.repository=…; found acme/Model-2" in error
    )
    assert not (project / "results").exists()


def test_launch_command_recipe_and_inspect(project: Path) -> None:
    write(
        project,
        "launch.txt",
        "docker run -e HF_TOKEN=hf_janejanejane x/y:1 \\\n  vllm serve acme/Model-1 --moe-backend=b12x \\\n"
        "  --kv-cache-dtype fp8\n",
    )
    digest = "sha256:" + "ab" * 32
    inspect = [
        {
            "Image": "sha256:" + "cd" * 32,
            "RepoDigests": [f"x/y@{digest}"],
            "Config": {"Image": "x/y:1", "Cmd": [], "Env": ["KEY=jane"]},
        }
    ]
    write(project, "inspect.json", inspect)
    run(project, "run.json", "--with", "launch.txt", "--with", "inspect.json", "--id", "mine")
    text = files(project)["drafts/mine.yaml"]
    assert "moe_backend_requested: b12x" in text
    assert "kv_cache_dtype: fp8" in text
    assert f"image_digest: {digest}" in text
    assert "image: x/y:1" in text
    assert "jane" not in text
    recipe = (
        "recipe_version: '1'\nmodel: acme/Model-1\ncontainer: x/y:2\ndefaults: {tp: 4}\ncommand: |\n"
        '  vllm serve {model} -tp {tp} --speculative-config \'{{"method":"mtp","num_speculative_tokens":3}}\'\n'
    )
    write(project, "recipe.yaml", recipe)
    run(project, "run.json", "--with", "recipe.yaml", "--id", "mine")
    text = files(project)["drafts/mine.yaml"]
    assert "tensor_parallel: 4" in text
    assert "speculative_method: mtp" in text


def test_a_sidecar_with_mistakes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, "lab.yaml", "workload: {concurrency: many, colour: red}\nevidence: rumour\n")
    assert run(project, "run.json", "--with", "lab.yaml") == 1
    error = capsys.readouterr().err
    assert "3 problems" in error
    assert "lab.yaml:1:0: workload.concurrency: expected" in error


def test_importing_twice_changes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(project, "run.json", "--with", "lab.yaml") == 0
    before = files(project)
    stamps = {p: p.stat().st_mtime_ns for p in (project / "results").rglob("*")}
    assert run(project, "run.json", "--with", "lab.yaml") == 0
    assert "unchanged" in capsys.readouterr().out
    assert files(project) == before
    assert {p: p.stat().st_mtime_ns for p in (project / "results").rglob("*")} == stamps


def test_another_manifest_is_only_replaced_when_asked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(project, "run.json", "--with", "lab.yaml", "--id", "mine")
    before = files(project)
    other = ("run.json", "--with", "lab.yaml", "--id", "mine", "--set", "workload.profile=heavy")
    assert run(project, *other) == 1
    assert "or --replace" in capsys.readouterr().err
    assert files(project) == before
    assert run(project, *other, "--replace") == 0
    after = files(project)
    # There is no git here to say that it was never published, so the old one is kept.
    (kept,) = [name for name in after if "-old-" in name]
    assert len(after) == 2
    assert "profile: heavy" in after["runs/mine.yaml"]
    old, problems = manifests.read(project / "results" / kept, kept, Run)
    assert not problems
    assert old is not None
    assert (old.status, old.correction and old.correction.successor, old.workload.profile) == (
        "superseded",
        "mine",
        "code",
    )
    assert run(project, *other, "--replace") == 0
    assert files(project) == after


def test_an_unpublished_manifest_is_replaced_without_a_trace(project: Path) -> None:
    git = ["git", "-C", str(project), "-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "start"], check=True)
    run(project, "run.json", "--with", "lab.yaml", "--id", "mine")
    run(project, "run.json", "--with", "lab.yaml", "--id", "mine", "--set", "workload.profile=heavy", "--replace")
    assert list(files(project)) == ["runs/mine.yaml"]


def test_one_bad_file_leaves_everything_unwritten(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, "bad.json", json.dumps(fixtures.VLLM)[:99])
    write(project, "empty.json", "")
    assert run(project, "run.json", "bad.json", "empty.json", "gone.json") == 1
    assert "3 problems" in capsys.readouterr().err
    assert not (project / "results").exists()


def test_dry_run_writes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(project, "run.json", "--with", "lab.yaml", "--dry-run") == 0
    assert "quantity: decode_rate" in capsys.readouterr().out
    assert not (project / "results").exists()


def test_missing_keys_are_asked_for_on_a_terminal(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    answers = {
        "workload.profile": "code",
        "workload.temperature": "null",
        "system.nodes": "",
        "evidence": "lab_single_run",
    }
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt.split(" ")[0])
        return answers.get(asked[-1], "null")

    monkeypatch.setattr("builtins.input", answer)
    assert run(project, "run.json", "--id", "mine") == 3
    text = files(project)["drafts/mine.yaml"]
    assert "profile: code" in text
    assert "# missing: system.nodes" in text
    assert "missing: workload.temperature" not in text


def test_the_same_file_twice_is_a_problem(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(project, "run.json", "run.json") == 1
    assert "each file once" in capsys.readouterr().err


def test_a_killed_import_leaves_no_half_file(project: Path) -> None:
    """Killed after ever longer delays: each `.yaml` that is there is whole, and the next import finishes the work."""
    command = [sys.executable, "-m", "macros.cli", "import", "run.json", "--with", "lab.yaml", "--id", "mine"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    whole: str | None = None
    for delay in (0.2, 0.45, 0.6, 0.75):
        process = subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for path in (project / "results").rglob("*.yaml"):
            manifest, problems = manifests.read(path, path.name, Run)
            assert manifest is not None, problems
    assert run(project, "run.json", "--with", "lab.yaml", "--id", "mine") == 0
    whole = files(project).get("runs/mine.yaml")
    assert whole is not None
    assert not list((project / "results").rglob(".*.part"))


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_dies_at_any_step_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "x.yaml"
    writing.atomically(path, "old: 1\n")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", die) if step == "fsync" else patched.setattr(Path, "replace", die)
        with pytest.raises(KeyboardInterrupt):
            writing.atomically(path, "new: 2\n")
    assert path.read_text() == "old: 1\n"
    writing.atomically(path, "new: 2\n")
    assert [p.name for p in tmp_path.iterdir()] == ["x.yaml"]


@pytest.mark.parametrize("replace", [(), ("--replace",)])
@pytest.mark.parametrize(("old", "found"), [(None, "Is a directory"), (b"id: \xff\n", "other bytes")])
def test_what_is_no_manifest_is_in_the_way(
    project: Path, capsys: pytest.CaptureFixture[str], old: bytes | None, found: str, replace: tuple[str, ...]
) -> None:
    path = project / "results/runs/mine.yaml"
    path.parent.mkdir(parents=True)
    path.write_bytes(old) if old else path.mkdir()
    assert run(project, "run.json", "--with", "lab.yaml", "--id", "mine", *replace) == 1
    assert f"mine.yaml: expected a manifest in UTF-8, or no file; found {found}" in capsys.readouterr().err
    assert path.is_dir() if old is None else path.read_bytes() == old


@pytest.mark.parametrize("command", [["import", "run.json"], ["forms"]])
def test_a_root_that_is_no_project_is_refused_and_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "run.json", fixtures.VLLM)
    (tmp_path / "empty").mkdir()
    for root, found in (("gone/x", "no such folder"), ("empty", "neither")):
        assert main([*command, "--root", root]) == 1
        assert f"{root}: expected a folder with results/ or mkdocs.yml; found {found}" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["empty", "run.json"]


@pytest.mark.parametrize("bad", ["a" * 80 + "/../../../x", "a" * 81, "A", "a--b", "a\n", ""])
def test_an_id_is_checked_whole(project: Path, capsys: pytest.CaptureFixture[str], bad: str) -> None:
    assert run(project, "run.json", "--dry-run", "--id", bad) == 1
    assert "--id: expected at most 80 lower-case letters" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("command", [["schema"], ["submission", "issue.md"]])
def test_a_full_disk_is_said_in_a_line(tmp_path: Path, command: list[str]) -> None:
    """The schema is longer than the buffer, the entry is not: one fails while printing, the other at the end."""
    issue = "### Value\n\n57\n\n### Who measured it\n\nx\n\n### Address where it can be looked up\n\nhttps://example.org/a\n"
    write(tmp_path, "issue.md", issue)
    words = [sys.executable, "-m", "macros.cli", *command, "--root", str(ROOT)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, cwd=tmp_path, env=environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "output: No space left on device\n")


def test_help_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["import", "--help"])
    out = capsys.readouterr().out
    assert "results import run1.json server.log" in out
    assert "results/drafts" in out


def test_imported_runs_join_the_figures_that_select_them(tmp_path: Path) -> None:
    """Three runs of 1000 / 15, / 15.5 and / 14.8 tok/s; the mean of the times is 15.1 ms."""
    shutil.copytree(ROOT / "results", tmp_path / "results", ignore=shutil.ignore_patterns("drafts"))
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    for number, tpot in enumerate((15.0, 15.5, 14.8)):
        changed = {"mean_tpot_ms": tpot, "duration": 10.0 + number, "output_throughput": 200 / (10.0 + number)}
        write(tmp_path, f"run{number}.json", fixtures.VLLM | {"model_id": "acme/DeepSeek-V4-Flash"} | changed)
    sidecar = SIDECAR.replace("nodes: 1", "nodes: 2").replace("checkpoint: null", 'checkpoint: "0731"')
    sidecar = sidecar.replace("profile: code", "profile: card-like").replace(
        "moe_backend_active: null", "moe_backend_active: B12X_MXFP4"
    )
    write(tmp_path, "lab.yaml", sidecar)
    assert run(tmp_path, "run0.json", "run1.json", "run2.json", "--with", "lab.yaml", "--id", "new") == 0
    figure = state.load(tmp_path).figures["moe-b12x-decode"]
    assert figure.manifests == ("new",)
    assert figure.n == 3
    assert figure.config["method.vantage"] == "client"
    assert figure.config["method.window"] == "first_to_last_token"
    assert [past.manifest for past in figure.history] == ["moe-b12x"]
