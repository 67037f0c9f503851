"""Small outputs of each tool, written by hand in the real formats, with numbers that are easy to check in the head."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from macros.importers import extract
from macros.importers.assemble import Assembled, assemble
from macros.importers.command import settings
from macros.importers.rawfile import RawFile

# 2 requests of 100 tokens in 10 s = 20 tok/s; TPOT 40 ms = 25 tok/s; 80 drafts of 3, 120 accepted: 1 + 1.5 = 2.5.
VLLM: dict[str, Any] = {
    "date": "20260801-120000",
    "backend": "openai-chat",
    "model_id": "acme/Model-1",
    "num_prompts": 2,
    "request_rate": "inf",
    "max_concurrency": 1,
    "duration": 10.0,
    "completed": 2,
    "failed": 0,
    "total_input_tokens": 600,
    "total_output_tokens": 200,
    "output_throughput": 20.0,
    "total_token_throughput": 80.0,
    "max_output_tokens_per_s": 9.0,
    "max_concurrent_requests": 2,
    "spec_decode_acceptance_rate": 50.0,
    "spec_decode_acceptance_length": 2.5,
    "spec_decode_num_drafts": 80,
    "spec_decode_draft_tokens": 240,
    "spec_decode_accepted_tokens": 120,
    "spec_decode_per_position_acceptance_rates": [0.75, 0.5, 0.25],
    "mean_ttft_ms": 500.0,
    "median_ttft_ms": 490.0,
    "std_ttft_ms": 10.0,
    "mean_tpot_ms": 40.0,
    "median_tpot_ms": 39.0,
    "std_tpot_ms": 2.0,
    "mean_itl_ms": 100.0,
}

# The fork's keys: seconds, no `_ms`. 0.02 s a token = 50 tok/s.
INFERENCEX: dict[str, Any] = {
    "date": "20260216-125302",
    "model_id": "acme/Model-1",
    "num_prompts": 4,
    "request_rate": "inf",
    "max_concurrency": 2,
    "duration": 8.0,
    "completed": 4,
    "total_input_tokens": 4096,
    "total_output_tokens": 512,
    "output_throughput": 64.0,
    "median_ttft": 2.5,
    "median_tpot": 0.02,
}

SGLANG: dict[str, Any] = {
    "backend": "sglang",
    "dataset_name": "random",
    "request_rate": 2.0,
    "max_concurrency": 4,
    "random_input_len": 256,
    "random_output_len": 50,
    "random_range_ratio": 1.0,
    "server_info": {
        "model_path": "/home/jane/models/m",
        "api_key": "sk-verysecretkey1",
        "tp_size": 2,
        "version": "0.5.9",
    },
    "duration": 5.0,
    "completed": 8,
    "total_input_tokens": 2048,
    "total_output_tokens": 400,
    "total_output_tokens_retokenized": 398,
    "output_throughput": 80.0,
    "mean_ttft_ms": 200.0,
    "std_ttft_ms": 5.0,
    "mean_tpot_ms": 20.0,
    "mean_itl_ms": 60.0,
    "accept_length": 2.75,
    "max_output_tokens_per_s": 30.0,
}


def statistic(values: list[float], mean: float, std: float = 0.0) -> dict[str, Any]:
    return {"mean": mean, "std": std, "values": values}


def benchy(version: str, concurrency: int = 1) -> dict[str, Any]:
    """Two runs of 24 and 26 tok/s: mean 25, population deviation 1."""
    rates = [24.0, 26.0] if concurrency == 1 else [24.0, 26.0] * concurrency
    return {
        "version": version,
        "timestamp": "2026-08-01 02:06:00Z",
        "latency_mode": "api",
        "latency_ms": 1.0,
        "model": "model-1",
        "prefix_caching_enabled": False,
        "max_concurrency": concurrency,
        "benchmarks": [
            {
                "concurrency": concurrency,
                "context_size": 4096,
                "prompt_size": 2048,
                "response_size": 128,
                "is_context_prefill_phase": False,
                "pp_throughput": statistic([1000.0, 1200.0], 1100.0, 100.0),
                "pp_req_throughput": statistic([1000.0, 1200.0], 1100.0, 100.0),
                "tg_throughput": statistic([24.0, 26.0], 25.0, 1.0),
                "tg_req_throughput": statistic(rates, 25.0, 1.0),
                "peak_throughput": statistic([40.0, 40.0], 40.0),
                "e2e_ttft": statistic([2000.0, 2200.0], 2100.0, 100.0),
            }
        ],
    }


BENCHY_MARKDOWN = """\
| model   |         test |  t/s (total) |    t/s (req) | peak t/s | peak t/s (req) |  ttfr (ms) | est_ppt (ms) | e2e_ttft (ms) |
|:--------|-------------:|-------------:|-------------:|---------:|---------------:|-----------:|-------------:|--------------:|
| model-1 |  pp2048 (c2) | 900.0 ± 10.0 | 450.0 ± 10.0 |          |                | 10.0 ± 1.0 |   10.0 ± 1.0 | 600.0 ± 20.0  |
| model-1 |   tg128 (c2) |  40.0 ±  1.0 |   21.5 ± 0.5 | 60.0     | 30.0           |            |              |               |

llama-benchy (0.4.0)
date: 2026-08-01 02:06:00 | latency mode: api
"""  # noqa: E501

LLAMA_BENCH: list[dict[str, Any]] = [
    {
        "build_commit": "abc1234",
        "build_number": 7000,
        "gpu_info": "Some GPU",
        "model_filename": "/home/jane/m.gguf",
        "model_type": "llama 7B Q4_0",
        "n_prompt": 0,
        "n_gen": 128,
        "n_depth": 512,
        "test_time": "2026-01-02T03:04:05Z",
        "avg_ts": 30.0,
        "stddev_ts": 1.0,
        "samples_ts": [29.0, 30.0, 31.0],
    }
]


def aiperf(**changes: Any) -> dict[str, Any]:
    """13 requests that succeeded and 7 that did not."""

    def metric(unit: str, avg: float, **more: float) -> dict[str, Any]:
        return {"unit": unit, "avg": avg, **more}

    return {
        "schema_version": "1.4",
        "aiperf_version": "0.13.0",
        "request_count": metric("requests", 13.0),
        "completed_request_count": metric("requests", 20.0),
        "output_token_throughput": metric("tokens/sec", 90.0),
        "output_token_throughput_per_user": metric("tokens/sec/user", 30.0, std=1.5, count=13),
        "inter_token_latency": metric("ms", 33.5, std=1.0, count=13),
        "inter_chunk_latency": metric("ms", 100.0),
        "e2e_output_token_throughput": metric("tokens/sec/user", 24.0, std=1.0, count=13),
        "time_to_first_token": metric("ms", 450.0, std=9.0, count=13),
        "prefill_throughput_per_user": metric("tokens/sec/user", 600.0, std=9.0, count=13),
        "input_sequence_length": metric("tokens", 256.0, min=256.0, max=256.0),
        "output_sequence_length": metric("tokens", 60.0, min=60.0, max=60.0),
        "input_config": {
            "models": {"items": [{"name": "acme/Model-1"}]},
            "endpoint": {"urls": ["http://10.1.2.3:8000"]},
            "phases": [{"kind": "warmup", "concurrency": 9}, {"kind": "profiling", "concurrency": 4}],
        },
        "run_info": {"cli_command": "aiperf profile --api-key sk-verysecretkey2 --url http://10.1.2.3:8000"},
        "was_cancelled": False,
        "is_complete": True,
        "start_time": "2026-08-01T10:00:00",
        **changes,
    }


def guidellm() -> dict[str, Any]:
    """ITL 20 ms = 50 tok/s. Its own TPOT of 25 ms holds the time to first token."""

    def bucket(mean: float, count: int = 4, std: float = 1.0) -> dict[str, Any]:
        empty = {"mean": 0.0, "count": 0}
        return {
            "successful": {"mean": mean, "count": count, "std_dev": std, "min": mean, "max": mean},
            "errored": empty,
        }

    return {
        "metadata": {"version": 2, "guidellm_version": "0.8.1"},
        "config": {
            "spec": {"backend": {"model": "acme/Model-1", "target": "http://10.1.2.3", "api_key": "sk-secretsecret3"}}
        },
        "benchmarks": [
            {
                "config": {"strategy": {"type_": "concurrent", "streams": 4}, "prefer_response_metrics": True},
                "start_time": 1785578400.5,
                "metrics": {
                    "request_totals": {"successful": 4, "errored": 1, "incomplete": 0, "total": 5},
                    "output_tokens_per_second": bucket(150.0, 400),
                    "inter_token_latency_ms": bucket(20.0, 396),
                    "time_per_output_token_ms": bucket(25.0, 400),
                    "time_to_first_token_ms": bucket(300.0),
                    "prompt_token_count": bucket(256.0),
                    "output_token_count": bucket(100.0),
                    "output_tokens_per_iteration": bucket(1.0),
                },
            }
        ],
    }


VLLM_LOG = """\
(APIServer pid=1) INFO 08-01 12:00:00 [utils.py:233] non-default args: {'model': 'acme/Model-1', 'moe_backend': 'b12x', 'max_num_seqs': 8, 'api_key': 'sk-verysecretkey4', 'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 3}}
(EngineCore pid=2) INFO 08-01 12:00:01 [core.py:109] Initializing a V1 LLM engine (v0.20.1) with config: model='acme/Model-1', speculative_config=SpeculativeConfig(method='mtp', num_spec_tokens=3), revision=None, max_seq_len=4096, tensor_parallel_size=2, kv_cache_dtype=fp8, seed=0
(Worker pid=3) INFO 08-01 12:00:02 [mxfp4.py:352] Mxfp4 MoE backend 'DEEPGEMM_MXFP4' does not support the deployment configuration
(Worker pid=3) INFO 08-01 12:00:02 [mxfp4.py:352] Using 'B12X' Mxfp4 MoE backend.
(Worker pid=4) INFO 08-01 12:00:02 [mxfp4.py:352] Using 'B12X' Mxfp4 MoE backend.
(APIServer pid=1) INFO:     10.0.0.7:45422 - "POST /v1/chat/completions HTTP/1.1" 200 OK
(APIServer pid=1) INFO 08-01 12:01:00 [loggers.py:271] Engine 000: Avg prompt throughput: 51.2 tokens/s, Avg generation throughput: 1.3 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%
(APIServer pid=1) INFO 08-01 12:01:00 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.50, Accepted throughput: 1.05 tokens/s, Drafted throughput: 2.10 tokens/s, Accepted: 15 tokens, Drafted: 30 tokens, Per-position acceptance rate: 0.700, 0.500, 0.300, Avg Draft acceptance rate: 50.0%
(APIServer pid=1) INFO 08-01 12:01:10 [loggers.py:271] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 54.2 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%
(APIServer pid=1) INFO 08-01 12:01:10 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 3.00, Accepted throughput: 36.00 tokens/s, Drafted throughput: 54.00 tokens/s, Accepted: 60 tokens, Drafted: 90 tokens, Per-position acceptance rate: 0.900, 0.700, 0.400, Avg Draft acceptance rate: 66.7%
(APIServer pid=1) INFO 08-01 12:01:20 [loggers.py:271] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 56.2 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%
(APIServer pid=1) INFO 08-01 12:01:20 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: nan, Accepted throughput: 0.00 tokens/s, Drafted throughput: 0.00 tokens/s, Accepted: 0 tokens, Drafted: 0 tokens, Per-position acceptance rate: , Avg Draft acceptance rate: nan%
(APIServer pid=1) INFO 08-01 12:01:30 [loggers.py:271] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 16.9 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%, Prefix cache hit rate: 0.0%
"""  # noqa: E501

SGLANG_LOG = """\
SGLang Version 0.5.11
[2026-06-08 04:16:03] server_args=ServerArgs(model_path='acme/Model-1', revision=None, host='10.0.0.9', api_key='sk-verysecretkey5', kv_cache_dtype='fp8_e4m3', tp_size=2)
[2026-06-08 04:16:52] Prefill batch, #new-seq: 1, #new-token: 37, #cached-token: 0
[2026-06-08 04:16:53] Decode batch, #running-req: 1, #token: 73, token usage: 0.00, cuda graph: False, gen throughput (token/s): 1.94, #queue-req: 0
[2026-06-08 04:16:54] Decode batch, #running-req: 1, #token: 99, token usage: 0.00, cuda graph: False, gen throughput (token/s): 56.00, #queue-req: 0
[2026-06-08 04:16:55] Decode batch, #running-req: 1, #token: 120, token usage: 0.00, cuda graph: False, gen throughput (token/s): 57.00, #queue-req: 0
[2026-06-08 04:16:56] Prefill batch, #new-seq: 1, #new-token: 2345, #cached-token: 24
[2026-06-08 04:16:57] Decode batch, #running-req: 1, #token: 2382, token usage: 0.00, cuda graph: False, gen throughput (token/s): 48.12, #queue-req: 0
"""  # noqa: E501


def scrape(
    drafts: int,
    accepted: int,
    generated: int,
    requests: int,
    decode_seconds: float,
    *,
    engines: int = 1,
    start: float = 1.7e9,
) -> str:
    """/metrics of a server with k = 2; the counts are shared out over `engines` series, `_created` lines included."""
    lines = [f"process_start_time_seconds {start}", "# TYPE vllm:generation_tokens_total counter"]
    for engine in range(engines):
        label = f'{{engine="{engine}",model_name="model-1"}}'
        part = {
            "vllm:spec_decode_num_drafts_total": drafts,
            "vllm:spec_decode_num_draft_tokens_total": 2 * drafts,
            "vllm:spec_decode_num_accepted_tokens_total": accepted,
            "vllm:generation_tokens_total": generated,
            "vllm:prompt_tokens_total": 100,
            "vllm:request_decode_time_seconds_sum": decode_seconds,
            "vllm:request_decode_time_seconds_count": requests,
            "vllm:request_generation_tokens_sum": generated,
            "vllm:request_generation_tokens_count": requests,
            "vllm:time_to_first_token_seconds_sum": requests / 2,
            "vllm:time_to_first_token_seconds_count": requests,
        }
        lines += [f"{name}{label} {value / engines}" for name, value in part.items()]
        lines.append(f"vllm:spec_decode_num_drafts_created{label} 1.786e+09")
        for position, share in enumerate((0.6, 0.4)):
            name = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
            lines.append(
                f'{name}{{engine="{engine}",model_name="model-1",position="{position}"}} {accepted * share / engines}'
            )
    return "\n".join(lines) + "\n"


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def made(paths: list[Path], *given: str, **more: Any) -> list[Assembled]:
    """What importing files gives, without writing anything."""
    stated = settings(list(given))
    plain: Mapping[str, Any] = {key: value.value for key, value in stated.items()}
    return assemble([extract(RawFile.open(path), plain) for path in paths], stated, **more)


def measurements(one: Assembled) -> dict[str, dict[str, Any]]:
    """id → measurement, with the run's vantage, window and counting where it has none of its own."""
    method = one.data["method"]
    keys = ("vantage", "window", "token_accounting")
    return {m["id"]: {**{k: method.get(k) for k in keys}, **m} for m in one.data["measurements"]}
