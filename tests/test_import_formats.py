"""Each format's small fixture against values worked out by hand (see import_fixtures)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from macros.problems import InputError
from tests import import_fixtures as fixtures
from tests.import_fixtures import made, measurements, write


def one(tmp_path: Path, content: Any, *given: str, name: str = "run.json") -> tuple[Any, dict[str, dict[str, Any]]]:
    (assembled,) = made([write(tmp_path, name, content)], *given)
    return assembled, measurements(assembled)


def kind(measurement: dict[str, Any]) -> tuple[Any, ...]:
    keys = ("quantity", "statistic", "value", "unit", "vantage", "window", "token_accounting", "n")
    return tuple(measurement[key] for key in keys)


def test_vllm_bench(tmp_path: Path) -> None:
    run, m = one(tmp_path, fixtures.VLLM)
    assert kind(m["aggregate"]) == (
        "aggregate_throughput", "total", Decimal("20.0"), "tok/s", "client", "whole_run", "usage", 1,
    )  # fmt: skip
    assert (m["aggregate"]["tokens"], m["aggregate"]["seconds"]) == (200, Decimal("10.0"))
    assert kind(m["decode"]) == (
        "decode_rate", "mean", Decimal("25.0000"), "tok/s", "client", "first_to_last_token", "usage", 1,
    )  # fmt: skip
    assert kind(m["tpot-mean"])[:4] == ("time_per_output_token", "mean", Decimal("40.0"), "ms")
    assert kind(m["ttft-mean"])[:4] == ("time_to_first_token", "mean", Decimal("500.0"), "ms")
    assert m["ttft-mean"]["deviation"] == {"value": Decimal("10.0"), "kind": "population", "over": "requests"}
    assert kind(m["acceptance"]) == (
        "acceptance_length", "total", Decimal("2.5"), "tok/step", "engine", "whole_run", "engine_counters", 1,
    )  # fmt: skip
    assert m["acceptance"]["acceptance_by_position"] == [Decimal("0.75"), Decimal("0.5"), Decimal("0.25")]
    assert m["decode"]["acceptance_length"] == Decimal("2.5")
    assert m["decode"]["observations"] == 2
    workload = run.data["workload"]
    assert (workload["concurrency"], workload["prompt_tokens"], workload["output_tokens"]) == (1, 300, 100)
    assert run.data["config"]["draft_tokens"] == 3
    assert run.data["model"]["repository"] == "acme/Model-1"
    assert str(run.data["date"]) == "2026-08-01"


def test_no_chunk_figure_of_vllm_is_taken(tmp_path: Path) -> None:
    run, m = one(tmp_path, fixtures.VLLM)
    assert not {Decimal("100.0"), Decimal("9.0"), Decimal("80.0"), 9, 80} & {x["value"] for x in m.values()}
    assert {"mean_itl_ms 100.0", "max_output_tokens_per_s 9.0"} <= {w.what for w in run.withheld}


def test_failed_requests_are_kept_and_named(tmp_path: Path) -> None:
    _, m = one(tmp_path, fixtures.VLLM | {"num_prompts": 3, "failed": 1})
    assert (m["aggregate"]["requests_completed"], m["aggregate"]["requests_failed"]) == (2, 1)
    assert "failed-requests" in m["aggregate"]["biases"]


def test_three_runs_become_three_samples(tmp_path: Path) -> None:
    """Tokens over time: 600 / (10 + 8 + 12.5) s. TPOT 40, 32, 50 ms: mean 40.6667 ms, so 24.5902 tok/s."""
    runs = [
        fixtures.VLLM | {"duration": seconds, "output_throughput": 200 / seconds, "mean_tpot_ms": tpot}
        for seconds, tpot in ((10.0, 40.0), (8.0, 32.0), (12.5, 50.0))
    ]
    (run,) = made([write(tmp_path, f"run{i}.json", content) for i, content in enumerate(runs)])
    m = measurements(run)
    assert m["aggregate"]["value"] == Decimal("19.6721")
    assert m["aggregate"]["samples"] == [Decimal("20.0"), Decimal("25.0"), Decimal("16.0")]
    assert (m["aggregate"]["low"], m["aggregate"]["high"], m["aggregate"]["n"]) == (Decimal("16.0"), Decimal("25.0"), 3)
    assert m["tpot-mean"]["value"] == Decimal("40.6667")
    assert m["decode"]["value"] == Decimal("24.5902")
    # Deviations from 40.667: -0.667, -8.667, 9.333; squares 162.67; / 2 = 81.33; root 9.018.
    assert m["tpot-mean"]["deviation"] == {"value": Decimal("9.01850"), "kind": "sample", "over": "runs"}
    assert m["acceptance"]["value"] == Decimal("2.50000")
    assert "run1.json" in m["aggregate"]["read_from"]["place"]


def test_repeats_may_differ_in_the_length_of_their_answers(tmp_path: Path) -> None:
    """190 and 210 tokens in 10 s each: 20 tok/s. Mean lengths 95 and 105."""
    runs = [
        fixtures.VLLM
        | {"total_output_tokens": tokens, "output_throughput": tokens / 10, "spec_decode_num_drafts": drafts}
        | {"spec_decode_draft_tokens": 3 * drafts, "spec_decode_acceptance_length": 1 + 120 / drafts}
        for tokens, drafts in ((190, 60), (210, 80))
    ]
    (run,) = made([write(tmp_path, f"run{i}.json", content) for i, content in enumerate(runs)])
    m = measurements(run)
    assert (m["aggregate"]["value"], m["aggregate"]["n"]) == (Decimal("20.0000"), 2)
    assert run.data["workload"]["output_tokens"] == 100
    assert m["acceptance"]["value"] == Decimal("2.71429")  # 1 + 240 / 140
    assert m["decode"]["acceptance_length"] == Decimal("2.71429")


def test_append_result_and_sweep_and_wrapper(tmp_path: Path) -> None:
    four = fixtures.VLLM | {"max_concurrency": 4}
    appended = json.dumps(fixtures.VLLM) + "\n" + json.dumps(four)
    wrapped = {"runs": [{"concurrency": 7, "metrics": {**fixtures.VLLM, "max_concurrency": None}}]}
    assert [r.data["workload"]["concurrency"] for r in made([write(tmp_path, "a.json", appended)])] == [1, 4]
    assert [r.data["workload"]["concurrency"] for r in made([write(tmp_path, "s.json", [fixtures.VLLM, four])])] == [
        1,
        4,
    ]
    assert [r.data["workload"]["concurrency"] for r in made([write(tmp_path, "w.json", wrapped)])] == [7]


def test_one_case_can_be_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, "s.json", [fixtures.VLLM, fixtures.VLLM | {"max_concurrency": 4}])
    (run,) = made([path], only="c4")
    assert run.data["workload"]["concurrency"] == 4
    with pytest.raises(InputError, match="one of c1, c4"):
        made([path], only="c9")


def test_an_open_loop_has_no_concurrency(tmp_path: Path) -> None:
    run, _ = one(tmp_path, fixtures.VLLM | {"max_concurrency": None, "request_rate": 0.2})
    assert run.data["workload"]["concurrency"] is None
    assert "workload.concurrency" in run.missing


def test_inferencex_counts_in_seconds(tmp_path: Path) -> None:
    _, m = one(tmp_path, fixtures.INFERENCEX)
    assert kind(m["ttft-median"])[1:4] == ("median", Decimal("2.5"), "s")
    assert kind(m["tpot-median"])[1:4] == ("median", Decimal("0.02"), "s")
    assert kind(m["decode"])[1:4] == ("median", Decimal("50.0000"), "tok/s")
    assert m["decode"]["token_accounting"] is None


def test_sglang(tmp_path: Path) -> None:
    line = json.dumps(fixtures.SGLANG).replace('"request_rate": 2.0', '"request_rate": Infinity')
    run, m = one(tmp_path, line + "\n", name="out.jsonl")
    assert kind(m["aggregate"])[2:6] == (Decimal("80.0"), "tok/s", "client", "whole_run")
    assert kind(m["decode"])[2:6] == (Decimal("50.0000"), "tok/s", "client", "first_to_last_token")
    assert m["acceptance"]["value"] == Decimal("2.75")
    assert set(m["acceptance"]["biases"]) == {"lifetime-average", "random-prompts"}
    assert run.data["workload"]["prompt_tokens"] == 256
    assert run.data["system"]["tensor_parallel"] == 2
    assert run.data["model"]["name"] is None
    text = str(run.data)
    assert "jane" not in text
    assert "secret" not in text


def test_sglang_requested_lengths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="requested length"):
        one(tmp_path, json.dumps(fixtures.SGLANG | {"total_output_tokens_retokenized": 4}))


def test_sglang_drops_a_last_line_that_is_cut(tmp_path: Path) -> None:
    line = json.dumps(fixtures.SGLANG)
    run, _ = one(tmp_path, f"{line}\n{line[:99]}")
    assert any("Line 2 is cut off" in note for note in run.data["notes"])


def test_sglang_log_leaves_out_the_first_line_and_prefill(tmp_path: Path) -> None:
    run, m = one(tmp_path, fixtures.SGLANG_LOG, name="server.log")
    assert kind(m["engine-window"]) == (
        "engine_window_rate", "median", Decimal("56.50"), "tok/s", "engine", "log_window", "engine_counters", 1,
    )  # fmt: skip
    assert m["engine-window"]["observations"] == 2
    assert run.data["runtime"]["version"] == "0.5.11"
    assert run.data["config"]["kv_cache_dtype"] == "fp8_e4m3"
    assert "secret" not in str(run.data)


@pytest.mark.parametrize("version", ["0.1.0", "0.2.2.dev7+gcd42", "0.3.5", "0.3.6.dev1"])
def test_early_benchy_counts_chunks(tmp_path: Path, version: str) -> None:
    _, m = one(tmp_path, fixtures.benchy(version))
    assert kind(m["chunks"]) == (
        "chunk_rate", "mean", Decimal("25.0"), "chunks/s", "client", "first_to_last_token", "sse_events", 2,
    )  # fmt: skip
    assert not [x for x in m.values() if x["quantity"] == "decode_rate"]


@pytest.mark.parametrize(
    ("version", "accounting"), [("0.3.6", "retokenised"), ("0.3.8", "retokenised"), ("0.4.0", None)]
)
def test_later_benchy_counts_tokens(tmp_path: Path, version: str, accounting: str | None) -> None:
    run, m = one(tmp_path, fixtures.benchy(version))
    assert kind(m["decode"])[:4] == ("decode_rate", "mean", Decimal("25.0"), "tok/s")
    assert m["decode"]["token_accounting"] == accounting
    assert ("method.token_accounting" in run.missing) == (accounting is None)
    assert m["decode"]["deviation"] == {"value": Decimal("1.0"), "kind": "population", "over": "runs"}
    assert m["decode"]["samples"] == [Decimal("24.0"), Decimal("26.0")]
    assert run.data["workload"]["depth_tokens"] == 4096


def test_benchy_accounting_may_be_stated(tmp_path: Path) -> None:
    _, m = one(tmp_path, fixtures.benchy("0.4.0"), "method.token_accounting=usage")
    assert m["decode"]["token_accounting"] == "usage"
    assert m["prefill"]["token_accounting"] == "requested"


def test_benchy_total_of_several_streams_is_no_decode_rate(tmp_path: Path) -> None:
    run, m = one(tmp_path, fixtures.benchy("0.4.0", concurrency=2))
    assert m["decode"]["observations"] == 4
    assert m["decode"]["n"] == 2
    assert "samples" not in m["decode"]
    assert any("first first token" in w.why for w in run.withheld)


def test_benchy_tells_dropped_failures(tmp_path: Path) -> None:
    suite = fixtures.benchy("0.4.0", concurrency=2)
    suite["benchmarks"][0]["tg_req_throughput"] = fixtures.statistic([24.0, 25.0, 26.0], 25.0, 0.8)
    _, m = one(tmp_path, suite)
    assert (m["decode"]["requests_completed"], m["decode"]["requests_failed"]) == (3, 1)
    assert "dropped-failures" in m["decode"]["biases"]


def test_benchy_context_phase_is_not_pp(tmp_path: Path) -> None:
    suite = fixtures.benchy("0.4.0")
    suite["benchmarks"][0]["is_context_prefill_phase"] = True
    _, m = one(tmp_path, suite)
    assert "prefill" not in m


def test_benchy_markdown(tmp_path: Path) -> None:
    _, m = one(tmp_path, fixtures.BENCHY_MARKDOWN, name="benchy.md")
    assert kind(m["decode"])[:4] == ("decode_rate", "mean", Decimal("21.5"), "tok/s")
    assert m["decode"]["n"] is None
    assert m["decode"]["deviation"]["over"] == "requests"
    assert m["ttft"]["value"] == Decimal("600.0")
    (tmp_path / "utf16.md").write_bytes(fixtures.BENCHY_MARKDOWN.encode("utf-16"))
    (run,) = made([tmp_path / "utf16.md"])
    assert measurements(run)["decode"]["value"] == Decimal("21.5")
    shifted = fixtures.BENCHY_MARKDOWN.replace("| 60.0     | 30.0           |            |", "| 60.0 | 30.0 |")
    with pytest.raises(InputError, match="shifted"):
        one(tmp_path, shifted, name="shifted.md")


def test_benchy_csv_needs_a_version_for_its_tokens(tmp_path: Path) -> None:
    header = "model,test_name,t_s_mean,t_s_std,t_s_req_mean,t_s_req_std,e2e_ttft_mean,e2e_ttft_std\r\n"
    rows = "model-1,pp256 (c1),900.5,1.0,900.5,1.0,280.5,1.0\r\nmodel-1,tg60 @ d0 (c1),62.5,0.5,62.5,0.5,,\r\n"
    _, m = one(tmp_path, "\ufeff" + header + rows, name="benchy.csv")
    assert set(m) == {"prefill", "ttft"}
    _, m = one(tmp_path, "\ufeff" + header + rows, "method.tool_version=0.3.8", name="benchy.csv")
    assert kind(m["decode"])[2:4] == (Decimal("62.5"), "tok/s")
    _, m = one(tmp_path, "\ufeff" + header + rows, "method.tool_version=0.3.5", name="benchy.csv")
    assert kind(m["chunks"])[2:4] == (Decimal("62.5"), "chunks/s")


def test_llama_bench_is_a_class_of_its_own(tmp_path: Path) -> None:
    run, m = one(tmp_path, fixtures.LLAMA_BENCH)
    assert kind(m["tg128"]) == (
        "kernel_rate", "mean", Decimal("30.0"), "tok/s", "in_process", None, "requested", 3,
    )  # fmt: skip
    assert m["tg128"]["deviation"]["kind"] == "sample"
    assert "jane" not in str(run.data)
    _, m = one(tmp_path, [fixtures.LLAMA_BENCH[0] | {"samples_ts": [30.0], "stddev_ts": 0.0}])
    assert (m["tg128"]["n"], m["tg128"]["statistic"]) == (1, "single")
    assert "deviation" not in m["tg128"]


@pytest.mark.parametrize(
    ("build", "version", "tool_version"),
    [
        ({}, "b7000 (abc1234)", "b7000"),
        ({"build_commit": "\x1f"}, "b7000", "b7000"),
        ({"build_commit": "a\u202eb"}, "b7000 (ab)", "b7000"),
        ({"build_commit": "/home/jane/llama.cpp"}, "b7000 ([path])", "b7000"),
        ({"build_commit": "\x1f", "build_number": "hf_abcdefghijkl"}, None, None),
        ({"build_commit": 5, "build_number": None}, None, None),
    ],
)
def test_what_llama_bench_was_built_from_is_cleaned(
    build: dict[str, Any], version: str | None, tool_version: str | None, tmp_path: Path
) -> None:
    run, _ = one(tmp_path, [fixtures.LLAMA_BENCH[0] | build])
    assert (run.data["runtime"]["version"], run.data["method"]["tool_version"]) == (version, tool_version)


@pytest.mark.parametrize(
    ("said", "version"), [("0.4.0", "0.4.0"), ("/home/jane/0.4.0", "[path]"), ("0.4\u202e.0", "0.4.0")]
)
def test_the_version_below_a_table_is_cleaned(said: str, version: str, tmp_path: Path) -> None:
    run, _ = one(tmp_path, fixtures.BENCHY_MARKDOWN.replace("0.4.0", said), name="benchy.md")
    assert run.data["method"]["tool_version"] == version


def test_llama_bench_csv_has_no_samples(tmp_path: Path) -> None:
    text = "build_commit,build_number,gpu_info,model_type,n_prompt,n_gen,n_depth,test_time,avg_ts,stddev_ts\n"
    text += '"abc","7","GPU","llama 7B","512","0","0","2026-01-02T03:04:05Z","7285.676949","100.06"\n'
    _, m = one(tmp_path, text, name="bench.csv")
    assert kind(m["pp512"])[:4] == ("kernel_rate", "mean", Decimal("7285.676949"), "tok/s")
    assert m["pp512"]["n"] is None


def test_aiperf(tmp_path: Path) -> None:
    run, m = one(tmp_path, fixtures.aiperf())
    assert kind(m["aggregate"])[:6] == (
        "aggregate_throughput", "total", Decimal("90.0"), "tok/s", "client", "whole_run",
    )  # fmt: skip
    assert kind(m["decode"])[2:8] == (Decimal("30.0"), "tok/s", "client", "first_to_last_token", "retokenised", 1)
    assert kind(m["end-to-end"])[2:6] == (Decimal("24.0"), "tok/s", "client", "request")
    assert kind(m["tpot"])[2:4] == (Decimal("33.5"), "ms")
    assert (m["decode"]["requests_completed"], m["decode"]["requests_failed"]) == (13, 7)
    assert {"mean-of-rates", "tokens-in-first-chunk", "failed-requests"} <= set(m["decode"]["biases"])
    assert "time-of-first-chunk" in m["tpot"]["biases"]
    assert run.data["workload"]["concurrency"] == 4
    assert not {"10.1.2.3", "secret"} & {word for word in ("10.1.2.3", "secret") if word in str(run.data)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"was_cancelled": True}, "a finished run"),
        ({"is_complete": False}, "a finished run"),
        ({"request_count": {"unit": "requests", "avg": 0.0}}, "at least one completed"),
        ({"inter_token_latency": {"unit": "s", "avg": 0.0335}}, "expected ms; found s"),
    ],
)
def test_aiperf_that_is_no_result(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        one(tmp_path, fixtures.aiperf(**changes))


def test_aiperf_warm_up_twin(tmp_path: Path) -> None:
    folder = tmp_path / "phases" / "warmup"
    folder.mkdir(parents=True)
    with pytest.raises(InputError, match="warm-up"):
        made([write(folder, "profile_export_aiperf.json", fixtures.aiperf())])


def test_guidellm_takes_itl_and_not_its_tpot(tmp_path: Path) -> None:
    run, m = one(tmp_path, fixtures.guidellm())
    assert kind(m["aggregate"])[2:6] == (Decimal("150.0"), "tok/s", "client", "whole_run")
    assert kind(m["tpot"])[2:4] == (Decimal("20.0"), "ms")
    assert kind(m["decode"])[2:4] == (Decimal("50.0000"), "tok/s")
    assert (m["decode"]["requests_completed"], m["decode"]["requests_failed"]) == (4, 1)
    assert Decimal("25.0") not in {x["value"] for x in m.values()}
    assert run.data["workload"]["concurrency"] == 4
    assert "secret" not in str(run.data)


def test_a_mock_model_is_never_published(tmp_path: Path) -> None:
    run, _ = one(tmp_path, fixtures.VLLM | {"model_id": "mock/model"})
    assert run.blockers == ["the model is mock/model: no model was measured"]
