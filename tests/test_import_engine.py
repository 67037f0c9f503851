"""Engine logs and two scrapes of /metrics, with the arithmetic in the open."""
# ruff: noqa: E501 (log lines are as long as they are)

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from macros.importers import vllm_log
from macros.importers.rawfile import RawFile
from macros.importers.streams import BLOCK, LineNumbers, lines_near, lines_with
from macros.problems import InputError
from tests import import_fixtures as fixtures
from tests.import_fixtures import made, measurements, scrape, write

LOG = fixtures.VLLM_LOG


def test_vllm_log(tmp_path: Path) -> None:
    """Windows of decoding: 54.2, 56.2; 1.3 held the prompt, 16.9 an end. 75 accepted, 120 drafted by 3: 40 drafts."""
    (run,) = made([write(tmp_path, "server.log", LOG)])
    m = measurements(run)
    assert m["engine-window"]["value"] == Decimal("55.2")
    assert m["engine-window"]["observations"] == 2
    assert (m["engine-window"]["statistic"], m["engine-window"]["window"]) == ("median", "log_window")
    assert m["log-acceptance"]["value"] == Decimal("2.87500")
    config, system = run.data["config"], run.data["system"]
    assert config["moe_backend_requested"] == "b12x"
    assert config["moe_backend_active"] == "B12X"
    assert config["moe_backend_known_from"] == "log"
    assert (config["speculative_method"], config["draft_tokens"]) == ("mtp", 3)
    assert (config["kv_cache_dtype"], config["max_model_len"], config["max_num_seqs"]) == ("fp8", 4096, 8)
    assert (system["tensor_parallel"], run.data["runtime"]["version"]) == (2, "0.20.1")
    assert run.data["workload"]["concurrency"] == 1
    assert "secret" not in str(run.data)
    places = {entry["key"]: entry["place"] for entry in run.data["settings_read_from"]}
    assert places["config.moe_backend_active"] == "line 4"


@pytest.mark.parametrize(
    ("line", "length"),
    [
        ("SpecDecoding metrics: Draft acceptance rate: 50.0%, Accepted: 30 tokens, Drafted: 60 tokens", None),
        (
            "INFO 09-09 11:51:35 [metrics.py:96] SpecDecoding metrics: Draft acceptance rate: 50.0%, Mean acceptance "
            "length: 2.00, Accepted throughput: 4.37 tokens/s, Drafted throughput: 4.92 tokens/s, Accepted: 30 tokens, "
            "Drafted: 60 tokens, Per-position acceptance rate: 0.750, 0.250",
            Decimal("2.00000"),
        ),
        (
            "vllm  | (APIServer pid=1) INFO 04-29 11:30:53 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: "
            "2.00, Accepted throughput: 6.90 tokens/s, Drafted throughput: 10.40 tokens/s, Accepted: 30 tokens, Drafted: "
            "60 tokens, Per-position acceptance rate: 0.750, 0.250, Avg Draft acceptance rate: 50.0%",
            Decimal("2.00000"),
        ),
        (
            "INFO 10-16 19:05:47 metrics.py:367] Speculative metrics: Draft acceptance rate: 0.500, System efficiency: "
            "0.598, Number of speculative tokens: 3, Number of accepted tokens: 90, Number of draft tokens: 180, Number "
            "of emitted tokens: 106.",
            Decimal("2.50000"),
        ),
    ],
)
def test_speculation_lines_since_v0(tmp_path: Path, line: str, length: Decimal | None) -> None:
    """30 of 60 by 2 draft positions: 1 + 30 / 30. V0 counts since the start: 1 + 90 / (180 / 3)."""
    path = write(tmp_path, "server.log", line + "\n")
    if length is None:
        with pytest.raises(InputError, match="vLLM log"):
            made([path])
    else:
        (run,) = made([path])
        assert measurements(run)["log-acceptance"]["value"] == length


def test_lines_of_two_servers_are_not_added_up(tmp_path: Path) -> None:
    other = LOG.replace("0.900, 0.700, 0.400", "0.9, 0.7")
    (run,) = made([write(tmp_path, "server.log", other)])
    assert any("not one server's log" in w.why for w in run.withheld)


@pytest.mark.parametrize(
    ("line", "backend"),
    [
        ("[mxfp4.py:166] Using Marlin backend", "Marlin"),
        ("Using 'DEEPGEMM_MXFP4' Mxfp4 MoE backend", "DEEPGEMM_MXFP4"),
        ("Using 'VLLM_CUTLASS' NvFp4 MoE backend out of potential backends: ['VLLM_CUTLASS'].", "VLLM_CUTLASS"),
        ("Using TRITON Fp8 MoE backend out of ['TRITON', 'MARLIN']", "TRITON"),
        ("No MXFP4 MoE backend supports the deployment configuration", None),
        ("llama 7B MXFP4 MoE backend", None),
    ],
)
def test_moe_backend_lines(tmp_path: Path, line: str, backend: str | None) -> None:
    log = "\n".join(part for part in LOG.splitlines() if "MoE backend" not in part) + f"\n(Worker pid=3) INFO {line}\n"
    (run,) = made([write(tmp_path, "server.log", log)])
    assert run.data["config"]["moe_backend_active"] == backend


def test_contradicting_backends_are_left_open(tmp_path: Path) -> None:
    (run,) = made([write(tmp_path, "server.log", LOG + "Using 'MARLIN' Mxfp4 MoE backend.\n")])
    assert run.data["config"]["moe_backend_active"] is None
    assert any("names several" in w.why for w in run.withheld)


def test_cold_log(tmp_path: Path) -> None:
    (run,) = made([write(tmp_path, "server.log", LOG + "INFO JIT compilation during inference: kernel x\n")])
    assert run.data["method"]["warm"] is False


@pytest.mark.parametrize(
    "argument",
    ["'rejection_sample_method': 'synthetic'", "'synthetic_acceptance_length': 2.5", '"synthetic_acceptance_rate"=0.6'],
)
def test_simulated_acceptance_is_refused(tmp_path: Path, argument: str) -> None:
    with pytest.raises(InputError, match="simulated acceptance"):
        made([write(tmp_path, "server.log", LOG.replace("'num_speculative_tokens': 3", f"{argument}, 'n': 3"))])


def test_two_servers_in_one_log(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the log of one server"):
        made([write(tmp_path, "server.log", LOG + LOG.replace("kv_cache_dtype=fp8", "kv_cache_dtype=auto"))])


def test_data_parallel_engines_have_no_window(tmp_path: Path) -> None:
    (run,) = made([write(tmp_path, "server.log", LOG + LOG.replace("Engine 000", "Engine 001"))])
    assert "engine-window" not in measurements(run)


@pytest.mark.parametrize(
    "text", ["Traceback (most recent call last):\n  File x\nRuntimeError: out of memory\n", "hello\n"]
)
def test_an_error_log_is_no_result(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        made([write(tmp_path, "server.log", text)])


def test_long_lines_and_blocks(tmp_path: Path) -> None:
    """Lines across block borders, beyond a whole buffer, and without an end."""
    path = tmp_path / "long.log"
    path.write_bytes(b"a" * (BLOCK - 3) + b"\nneedle 2\n" + b"b" * (5 * BLOCK) + b"\nneedle 4\r\nlast needle")
    found = list(lines_with(path, (b"needle",)))
    assert [line for _, line in found] == [b"needle 2", b"needle 4", b"last needle"]
    numbers = LineNumbers(path)
    assert [numbers.at(offset) for offset, _ in found] == [2, 4, 5]


def test_a_dense_log_is_the_same_in_blocks_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks end within lines, labels and numbers.

    Windows of pair i: 4 requests at 50 + i % 10 tok/s and no prompt, but in every eighth pair 9.5 tok/s of prompt. Of
    400 pairs, 350 hold decoding only; the very first window (i = 0) held a prompt, so none lacks a window before it.
    i % 10 is even where i % 8 is 0, and runs through 0, 8, 6, 4, 2 (i = 0, 8, 16, 24, 32): 40 windows of each odd rate
    and 30 of each even one. The 175th and 176th of 350 sorted: 50 to 54 are 30 + 40 + 30 + 40 + 30 = 170, so both
    are 55.0. Drafts: 30 tokens by 3 positions are 10; accepted 15 + i % 4, on average 16.5: 1 + 16.5 / 10 = 2.65.
    """
    lines = []
    for i in range(400):
        prompt = "9.5" if i % 8 == 0 else "0.0"
        lines += [
            f"(APIServer pid=1) INFO 08-01 12:00:00 [loggers.py:271] Engine 000: Avg prompt throughput: {prompt} tokens/s, "
            f"Avg generation throughput: {50 + i % 10}.0 tokens/s, Running: 4 reqs, Waiting: 0 reqs",
            f"(APIServer pid=1) INFO 08-01 12:00:00 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.50, "
            f"Accepted throughput: 1.05 tokens/s, Drafted throughput: 2.10 tokens/s, Accepted: {15 + i % 4} tokens, "
            "Drafted: 30 tokens, Per-position acceptance rate: 0.700, 0.500, 0.300, Avg Draft acceptance rate: 50.0%",
            "INFO: POST /v1/chat/completions " + "x" * (i % 37),
        ]
    lines.append("INFO JIT compilation during inference: kernel x")
    path = write(tmp_path, "server.log", "\n".join(lines))
    found = []
    for block in (127, 256, 1000, 1 << 20):
        monkeypatch.setattr("macros.importers.streams.BLOCK", block)
        extract = vllm_log.read(RawFile.open(path))
        (case,) = extract.cases
        window, acceptance = case.readings
        assert (case.name, window.value, window.observations) == ("c4", Decimal("55.0"), 350)
        assert (acceptance.value, acceptance.observations) == (Decimal("2.65000"), 400)
        assert (acceptance.accepted, acceptance.drafts) == (6600, 4000)
        found.append(extract)
    assert found == found[:1] * 4
    two = write(tmp_path, "two.log", path.read_text().replace("Engine 000", "Engine 001", 1))
    monkeypatch.setattr("macros.importers.streams.BLOCK", 256)
    assert any("2 engines print a line each" in held.why for held in vllm_log.read(RawFile.open(two)).withheld)


def test_lines_of_a_start_are_only_searched_near_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two marks whose neighbourhoods touch are read once."""
    monkeypatch.setattr("macros.importers.streams.START_BYTES", 1000)
    monkeypatch.setattr("macros.importers.streams.BEFORE_BYTES", 100)
    path = tmp_path / "long.log"
    filler = b"x" * 49 + b"\n"
    parts = [b"early 1\n", filler * 30, b"far 2\n", filler * 30, b"early 3\n", filler, b"start\n", filler * 15]
    parts += [b"early 4\nstart\n", filler * 15, b"early 5\n", filler * 9, b"far 6\n", filler]
    path.write_bytes(b"".join(parts))
    first, last = (at.start() for at in re.finditer(b"start", path.read_bytes()))
    for marks in ([(first, last)], [(first, first), (last, last)]):
        found = [line for _, line in lines_near(path, (b"early", b"far"), marks)]
        assert found == [b"early 1", b"early 3", b"early 4", b"early 5"]


def scrapes(tmp_path: Path, before: str, after: str) -> list[Path]:
    return [write(tmp_path, "before.txt", before), write(tmp_path, "after.txt", after)]


@pytest.mark.parametrize("engines", [1, 2])
def test_two_scrapes(tmp_path: Path, engines: int) -> None:
    """+100 drafts, +150 accepted, +248 tokens in +8 requests over +10 s of decoding; 20 s of wall."""
    paths = scrapes(
        tmp_path,
        scrape(1000, 1400, 3000, 10, 100.0, engines=engines),
        scrape(1100, 1550, 3248, 18, 110.0, engines=engines),
    )
    (run,) = made(paths, seconds=Decimal(20))
    m = measurements(run)
    assert m["engine-acceptance"]["value"] == Decimal("2.50000")  # 1 + 150 / 100
    assert m["engine-acceptance"]["acceptance_by_position"] == [Decimal("0.9000"), Decimal("0.6000")]  # 90, 60 / 100
    assert m["engine-decode"]["value"] == Decimal("24.0000")  # (248 - 8) / 10
    assert (m["engine-decode"]["unit"], m["engine-decode"]["window"]) == ("tok/s", "first_to_last_token")
    assert m["engine-steps"]["value"] == Decimal("10.0000")  # 100 / 10
    assert m["engine-steps"]["unit"] == "steps/s"
    assert m["engine-aggregate"]["value"] == Decimal("12.4000")  # 248 / 20
    assert m["engine-steps-wall"]["value"] == Decimal("5.00000")  # 100 / 20
    assert m["engine-ttft"]["value"] == Decimal("0.500000")
    assert m["engine-ttft"]["unit"] == "s"
    assert {x["vantage"] for x in m.values()} == {"engine"}
    assert run.data["config"]["draft_tokens"] == 2
    assert "before.txt" in m["engine-decode"]["read_from"]["place"]


def test_the_clients_wall_serves_where_the_scrapes_saw_its_tokens_only(tmp_path: Path) -> None:
    paths = scrapes(tmp_path, scrape(1000, 1400, 3000, 10, 100.0), scrape(1080, 1520, 3200, 12, 105.0))
    client = write(
        tmp_path, "run.json", fixtures.VLLM | {"spec_decode_draft_tokens": 160, "spec_decode_acceptance_length": 2.5}
    )
    (run,) = made([client, *paths])
    m = measurements(run)
    assert m["engine-steps-wall"]["value"] == Decimal("8.00000")  # 80 drafts in the client's 10 s
    assert m["decode"]["vantage"] == "client"
    assert m["engine-decode"]["vantage"] == "engine"
    assert run.data["method"]["vantage"] is None
    assert [s["name"] for s in run.data["sources"]] == ["run.json", "before.txt", "after.txt"]
    other = made([client, *scrapes(tmp_path, scrape(1000, 1400, 3000, 10, 100.0), scrape(1080, 1520, 3300, 12, 105.0))])
    assert "engine-steps-wall" not in measurements(other[0])


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (scrape(100, 150, 300, 4, 9.0), scrape(10, 15, 30, 1, 1.0), "restarted, or the two are in the wrong order"),
        (scrape(10, 15, 30, 1, 1.0), scrape(100, 150, 300, 4, 9.0, start=1.8e9), "the server was restarted"),
        (scrape(10, 15, 30, 1, 1.0), scrape(10, 15, 30, 1, 1.0) + "\n", "the same counters"),
        (scrape(10, 15, 30, 1, 1.0), scrape(100, 150, 300, 4, 9.0).replace("model-1", "other"), "the model model-1"),
        (scrape(10, 15, 30, 1, 1.0), "vllm:x{ nonsense", "Prometheus text"),
        (scrape(10, 15, 30, 1, 1.0), "vllm:generation_tokens_total -5\n", "at least 0"),
        (scrape(10, 15, 30, 1, 1.0), "vllm:generation_tokens_total NaN\n", "a finite counter"),
        (scrape(10, 15, 30, 1, 1.0), "vllm:num_requests_running 5\n", "counters of a vLLM server"),
    ],
)
def test_scrapes_that_measure_nothing(tmp_path: Path, before: str, after: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        made(scrapes(tmp_path, before, after))


def test_one_scrape_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two scrapes"):
        made([write(tmp_path, "after.txt", scrape(10, 15, 30, 1, 1.0))])


def test_created_lines_are_no_counters(tmp_path: Path) -> None:
    (run,) = made(scrapes(tmp_path, scrape(1000, 1400, 3000, 10, 100.0), scrape(1100, 1550, 3248, 18, 110.0)))
    assert all(x["value"] < 1000 for x in measurements(run).values())


def test_steps_need_whole_requests_between_the_scrapes(tmp_path: Path) -> None:
    after = scrape(1100, 1550, 3248, 18, 110.0).replace(
        'request_generation_tokens_sum{engine="0",model_name="model-1"} 3248.0',
        'request_generation_tokens_sum{engine="0",model_name="model-1"} 3200.0',
    )
    (run,) = made(scrapes(tmp_path, scrape(1000, 1400, 3000, 10, 100.0), after))
    assert "engine-steps" not in measurements(run)
    assert any("under way" in w.why for w in run.withheld)


def test_a_client_takes_the_windows_of_its_own_concurrency(tmp_path: Path) -> None:
    """And the server's configuration in any case."""
    log = write(tmp_path, "server.log", LOG)
    for concurrency, found in ((1, True), (4, False)):
        client = write(tmp_path, f"run{concurrency}.json", fixtures.VLLM | {"max_concurrency": concurrency})
        (run,) = made([client, log])
        assert ("engine-window" in measurements(run)) == found
        assert run.data["config"]["moe_backend_active"] == "B12X"
        assert any("no window with 4" in w.why for w in run.withheld) != found


def test_vantage_and_window_cannot_be_stated(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="each figure brings its own"):
        made([write(tmp_path, "run.json", fixtures.VLLM)], "method.window=request", "method.vantage=engine")


def test_stated_counting_fills_gaps_only(tmp_path: Path) -> None:
    (run,) = made([write(tmp_path, "run.json", fixtures.VLLM)], "method.token_accounting=retokenised")
    assert {m["id"]: m["token_accounting"] for m in measurements(run).values()} == {
        "aggregate": "usage",
        "ttft-mean": "usage",
        "tpot-mean": "usage",
        "decode": "usage",
        "acceptance": "engine_counters",
    }
