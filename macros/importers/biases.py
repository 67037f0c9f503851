"""Known biases of tools and versions, in both languages. A manifest carries code, direction, text and source.

Where a source is not named otherwise it is the reading of the tools' own code and the controlled experiment
(one server of known speed, measured with every tool) that the importers' rules were derived from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["high", "low", "either"]


@dataclass(frozen=True)
class Bias:
    """`direction` is where the reported value lies against what its name promises."""

    direction: Direction
    en: str
    ru: str
    source: str


BIASES: dict[str, Bias] = {
    "aggregate-holds-ttft": Bias(
        "low",
        "Output tokens over the whole wall: prompt processing, ramp-up and drain are inside. Not a decode rate.",
        "Выходные токены за весь прогон: внутри обработка запроса, разгон и хвост. Не скорость декодирования.",
        "vLLM and SGLang bench_serving, AIPerf, GuideLLM: source",
    ),
    "failed-requests": Bias(
        "either",
        "Some requests failed: tokens and latencies are those of the survivors, the time is everybody's.",
        "Часть запросов не удалась: токены и задержки — уцелевших, время — общее.",
        "vLLM bench serve: source",
    ),
    "role-chunk-ttft": Bias(
        "low",
        "vLLM up to 0.27 stops the clock at the first chunk, which on the chat endpoint may hold no token yet.",
        "vLLM до 0.27 останавливает часы на первом фрагменте, а на chat-адресе в нём может ещё не быть токена.",
        "vLLM issues 3759, 3768, 15106",
    ),
    "derived-from-tpot": Bias(
        "low",
        "1000 / mean time per output token: the harmonic mean of the requests' rates, never above the arithmetic.",
        "1000 / среднее время на токен: гармоническое среднее скоростей запросов, не выше арифметического.",
        "arithmetic",
    ),
    "mean-of-rates": Bias(
        "high",
        "The arithmetic mean of each request's own rate, at or above total tokens over total time.",
        "Арифметическое среднее скоростей отдельных запросов — не ниже отношения всех токенов ко всему времени.",
        "AIPerf, llama-benchy: source",
    ),
    "tokens-in-first-chunk": Bias(
        "high",
        "(n - 1) tokens over first-to-last: with k tokens in the first chunk it reads (n - 1) / (n - k) too high.",
        "(n − 1) токенов от первого до последнего: если в первом фрагменте k токенов, завышено в (n − 1)/(n − k) раза.",
        "controlled experiment: 62.1 for a true 60",
    ),
    "time-of-first-chunk": Bias(
        "low",
        "(n - 1) tokens in first-to-last: with k tokens in the first chunk it reads (n - k) / (n - 1) of the truth.",
        "(n − 1) токенов от первого до последнего: если в первом фрагменте k токенов, занижено до (n − k)/(n − 1).",
        "controlled experiment: 16.1 ms for a true 16.7",
    ),
    "lifetime-average": Bias(
        "either",
        "An average over the server's whole lifetime, not of this run.",
        "Среднее за всё время работы сервера, а не за этот прогон.",
        "SGLang bench_serving: source",
    ),
    "cut-drafts": Bias(
        "either",
        "From the server's counters around the run: all its traffic, and drafts cut by the length limit too.",
        "По счётчикам сервера вокруг прогона: весь трафик, включая черновики, обрезанные пределом длины.",
        "vLLM bench serve: source",
    ),
    "random-prompts": Bias(
        "either",
        "Random-token prompts: the acceptance of drafts is not that of real text.",
        "Запросы из случайных токенов: принятие черновиков не такое, как на настоящем тексте.",
        "controlled experiment and vLLM runs on random data",
    ),
    "latency-subtracted": Bias(
        "high",
        "Prompt tokens over time to first response minus a latency measured apart; server overhead is inside.",
        "Токены запроса за время до первого ответа минус измеренная отдельно задержка; издержки сервера внутри.",
        "llama-benchy: source; one real file subtracts 610 of 1058 ms",
    ),
    "prefix-charged-short": Bias(
        "low",
        "Charged only the new prompt tokens although the context was sent again: right only if the prefix cache hits.",
        "Засчитаны только новые токены, хотя контекст отправлен снова: верно лишь при попадании в кэш префикса.",
        "controlled experiment: 1555 against 652 on one server",
    ),
    "queue-inside": Bias(
        "low",
        "Several prompts are processed at once or wait for each other: their queueing is inside.",
        "Несколько запросов обрабатываются вместе или ждут друг друга: ожидание внутри.",
        "llama-benchy: source",
    ),
    "prefix-cache-hits": Bias(
        "high",
        "Input length over time to first token for each request: prefix-cache hits give absurd means.",
        "Длина запроса на время до первого токена: попадания в кэш префикса дают нелепые средние.",
        "AIPerf: source; a real mean of 21 547 tok/s",
    ),
    "dropped-failures": Bias(
        "high",
        "Fewer values than runs times concurrency: failed requests were dropped silently.",
        "Значений меньше, чем прогоны × параллельность: неудачные запросы молча отброшены.",
        "llama-benchy: controlled experiment, 186 for a true 240",
    ),
    "requested-sizes": Bias(
        "either",
        "Sizes are those asked for; early ends of answers do not show.",
        "Размеры — запрошенные; досрочный конец ответа не виден.",
        "llama-benchy: source",
    ),
    "kernel-level": Bias(
        "high",
        "No HTTP, tokenisation, sampling or speculation: never comparable with a served figure.",
        "Без HTTP, токенизации, выборки и спекуляции: несравнимо с показателями сервера.",
        "llama.cpp llama-bench: source",
    ),
    "one-repetition": Bias(
        "either",
        "A single repetition: its deviation of 0 says nothing.",
        "Единственный повтор: его отклонение 0 ничего не значит.",
        "llama.cpp llama-bench: source",
    ),
    "steps-over-wall": Bias(
        "low",
        "Divided by the wall time between the two ends, idle time and prompt processing inside.",
        "Делено на всё время между двумя концами, включая простой и обработку запросов.",
        "arithmetic",
    ),
    "decode-windows-only": Bias(
        "either",
        "Only log windows without prompt tokens and with an unchanged number of running requests; not a run figure.",
        "Только окна журнала без токенов запроса и с неизменным числом запросов; это не итог прогона.",
        "vLLM and SGLang logs",
    ),
    "log-span": Bias(
        "either",
        "Totals over every window in the log: all traffic of that server while it was written.",
        "Суммы по всем окнам журнала: весь трафик сервера за это время.",
        "vLLM logs",
    ),
    "per-token-weighting": Bias(
        "either",
        "Weighted by tokens, so long answers count more.",
        "Взвешено по токенам: длинные ответы весят больше.",
        "GuideLLM: source",
    ),
}
