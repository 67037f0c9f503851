"""The real files of ../shared/samples, where that folder is there, against what formats.md says of them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from macros.importers import extract, sidecar
from macros.importers.rawfile import RawFile
from macros.importers.write import checked
from macros.problems import InputError
from macros.vocabulary import UNITS
from tests.import_fixtures import made, measurements

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = next((p for p in (ROOT.parent / "shared/samples",) if p.is_dir()), None)
FILES = sorted(p for p in SAMPLES.rglob("*") if p.is_file() and p.parent != SAMPLES) if SAMPLES else []

pytestmark = pytest.mark.skipif(SAMPLES is None, reason="../shared/samples is not here")

# file, case, measurement → value, unit. From formats.md, sections 1 and 2, and from the files by eye.
EXPECTED: list[tuple[str, str | None, str, str, str]] = [
    ("vllm-bench/dsv4flash_0731_2spark_dspark7_detailed.json", "c1", "aggregate", "20.913564339755027", "tok/s"),
    ("vllm-bench/dsv4flash_0731_2spark_dspark7_detailed.json", "c1", "decode", "25.8273", "tok/s"),
    ("vllm-bench/dsv4flash_0731_2spark_dspark7_detailed.json", "c4", "aggregate", "39.39377670133059", "tok/s"),
    ("vllm-bench/spec_dflash15_reasoning.json", None, "tpot-mean", "248.5093695208039", "ms"),
    ("vllm-bench/spec_dflash15_reasoning.json", None, "acceptance", "3.8284502768994573", "tok/step"),
    (
        "llama-benchy/dsv4flash_0731_2spark_dspark7_v0.4.1dev.json",
        "pp2048-tg128-d0-c1-a",
        "decode",
        "26.588892868830744",
        "tok/s",
    ),
    ("synthetic/mock_benchy_0.3.5.json", "pp256-tg60-d0-c1", "chunks", "20.024050126963807", "chunks/s"),
    ("synthetic/mock_benchy_0.3.8.json", "pp256-tg60-d0-c1", "decode", "60.0", "tok/s"),
    ("synthetic/mock_benchy_0.4.0.json", "pp256-tg60-d0-c1", "decode", "62.1", "tok/s"),
    ("synthetic/mock_benchy_0.4.0_token_ids.json", "pp256-tg60-d0-c1", "decode", "59.96", "tok/s"),
    ("synthetic/mock_sglang_0.5.9_two_runs.jsonl", "c4", "tpot-mean", "16.1", "ms"),
    ("synthetic/mock_sglang_0.5.9_two_runs.jsonl", "c4", "aggregate", "196.46", "tok/s"),
    ("synthetic/mock_aiperf_0.13.0.json", None, "decode", "62.1", "tok/s"),
    ("synthetic/mock_aiperf_0.13.0.json", None, "end-to-end", "49.2", "tok/s"),
    ("synthetic/mock_aiperf_0.13.0.json", None, "aggregate", "195.88", "tok/s"),
    ("synthetic/mock_aiperf_0.13.0_server_metrics.csv", None, "engine-acceptance", "3.00000", "tok/step"),
    ("synthetic/mock_guidellm_0.8.1.json", "c1", "tpot", "16.1", "ms"),
    ("inferencex/token_position_qwen35_conc16.json", None, "ttft-median", "2.8395004882477224", "s"),
    ("llama-bench/doc_b5163.json", "tg128-d0", "tg128", "118.881588", "tok/s"),
    ("sglang-log/gb10_sglang_fp8_decode_batch.log", None, "engine-window", "56.47", "tok/s"),
    ("vllm-log/gb10_v0.20.1_dflash15_nvfp4_full_server.log", None, "log-acceptance", "2.61069", "tok/step"),
]


@pytest.mark.parametrize(("file", "case", "name", "value", "unit"), EXPECTED)
def test_known_values(file: str, case: str | None, name: str, value: str, unit: str) -> None:
    assert SAMPLES is not None
    (run,) = made([SAMPLES / file], only=case)
    m = measurements(run)[name]
    last_place = Decimal(1).scaleb(Decimal(value).as_tuple().exponent)  # type: ignore[arg-type]
    assert abs(m["value"] - Decimal(value)) < last_place
    assert m["unit"] == unit


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.name))
def test_every_sample_is_sane_or_refused(path: Path) -> None:
    """A figure has a fitting unit and no private detail; a refusal says what would be needed."""
    file = RawFile.open(path) if path.stat().st_size else None
    try:
        runs: list[Any] = [] if file is None or extract(file, {}).role == "environment" else made([path])
    except InputError:
        return
    for run in runs:
        text = checked(run.data, "x.yaml", set(run.missing))
        assert not any(word in text for word in ("/home/", "127.0.0.1", "localhost", "10.0.0.1", "<script", "w0 w1"))
        assert all(m["unit"] in UNITS[m["quantity"]] for m in run.data["measurements"])
        assert not [m for m in run.data["measurements"] if m["quantity"] == "decode_rate" and "chunk" in m["unit"]]
        if "synthetic" in path.parts and "mock" in path.name:
            assert run.blockers or "model.name" in run.missing


def test_two_real_scrapes() -> None:
    """+20 drafts, +40 accepted, +60 tokens: 1 + 40 / 20 = 3; over a stated 1.5 s 13.3 steps and 40 tokens a second."""
    assert SAMPLES is not None
    paths = [SAMPLES / "synthetic" / name for name in ("metrics_before.txt", "metrics_after.txt")]
    (run,) = made(paths, seconds=Decimal("1.5"))
    m = measurements(run)
    assert m["engine-acceptance"]["value"] == Decimal("3.00000")
    assert m["engine-steps-wall"]["value"] == Decimal("13.3333")
    assert m["engine-aggregate"]["value"] == Decimal("40.0000")


def test_the_servers_start_is_read() -> None:
    assert SAMPLES is not None
    found = extract(RawFile.open(SAMPLES / "vllm-log/gb10_v0.20.1_dflash15_nvfp4_full_server.log"), {}).settings
    values = {key: stated.value for key, stated in found.items()}
    assert values["runtime.version"] == "0.20.1"
    assert values["config.moe_backend_active"] == "VLLM_CUTLASS"
    assert (values["config.speculative_method"], values["config.draft_tokens"]) == ("dflash", 15)
    assert "model.name" not in values  # only /models/target


def test_recipes_are_read() -> None:
    assert SAMPLES is not None
    found = sidecar(RawFile.open(SAMPLES / "environment/eugr_recipe_dsv4_0731_b12x.yaml.txt")).settings
    values = {key: stated.value for key, stated in found.items()}
    assert values["system.tensor_parallel"] == 2
    assert values["config.moe_backend_requested"] == "b12x"
    assert (values["config.speculative_method"], values["config.draft_tokens"]) == ("dspark", 5)
