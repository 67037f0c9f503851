"""The closed vocabularies of the data, and which unit fits which quantity."""

from __future__ import annotations

from typing import Literal, get_args

Language = Literal["en", "ru"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

Quantity = Literal[
    "decode_rate",
    "end_to_end_rate",
    "aggregate_throughput",
    "engine_window_rate",
    "kernel_rate",
    "step_rate",
    "chunk_rate",
    "prefill_rate",
    "acceptance_length",
    "acceptance_rate",
    "time_to_first_token",
    "time_per_output_token",
    "duration",
]
Unit = Literal["tok/s", "steps/s", "chunks/s", "tok/step", "%", "s", "ms"]
UNITS: dict[Quantity, tuple[Unit, ...]] = {
    "decode_rate": ("tok/s",),
    "end_to_end_rate": ("tok/s",),
    "aggregate_throughput": ("tok/s",),
    "engine_window_rate": ("tok/s",),
    "kernel_rate": ("tok/s",),
    "step_rate": ("steps/s",),
    "chunk_rate": ("chunks/s",),
    "prefill_rate": ("tok/s",),
    "acceptance_length": ("tok/step",),
    "acceptance_rate": ("%",),
    "time_to_first_token": ("s", "ms"),
    "time_per_output_token": ("s", "ms"),
    "duration": ("s", "ms"),
}

Statistic = Literal["single", "mean", "median", "total", "peak", "best_of"]
# Whether a rate belongs to one stream (its share, where several run) or to all of them together.
Scope = Literal["stream", "sum"]
# What a published range spans; `band`: the source prints a range and does not say of what.
SpanOf = Literal["runs", "sessions", "restarts", "machines", "configurations", "band"]
# What a published figure's date is; `stamp`: a date printed in the document itself.
DateOf = Literal["publication", "commit", "measurement", "stamp"]
Vantage = Literal["client", "engine", "in_process"]
Window = Literal["first_to_last_token", "request", "whole_run", "log_window"]
TokenAccounting = Literal["usage", "token_ids", "engine_counters", "retokenised", "requested", "sse_events"]
Question = Literal["backend", "prompt", "vantage", "concurrency", "other"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
Status = Literal["current", "superseded", "withdrawn"]

Evidence = Literal["model_card", "community_report", "lab_single_run", "methodology_v1"]
# Lowest to highest: a figure drawn from several runs is as good as the weakest of them.
EVIDENCE: tuple[Evidence, ...] = get_args(Evidence)
# The claim registry's rule for its label; the pages state it from here.
METHODOLOGY_V1_REPEATS = 3
