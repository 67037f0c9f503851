// "Why is my number different?" answers in the browser, from data/your-number.json alone; nothing is sent anywhere.
// The rules are those of macros/your_number.py, function by function; a test compares the two.
(function () {
  "use strict";
  const form = document.querySelector("form.your-number");
  if (!form) return;
  const say = JSON.parse(document.getElementById("your-number-words").textContent);
  const word = (key) => say.words[key];
  const answerBox = form.querySelector(".answer");
  const reportBox = form.querySelector(".report");
  let table = null;

  // The rules

  function parsed(value) {
    const parts = value.replace(/–/g, "-").split("-").map((part) => part.trim().replace(/,/g, "."));
    if (parts.length > 2 || !parts.every((part) => /^[0-9]+(\.[0-9]+)?$/.test(part) && part.length < 12)) return null;
    const numbers = parts.map(Number);
    if (numbers.length === 2) return numbers[0] > 0 && numbers[0] <= numbers[1] ? numbers : null;
    const half = 0.5 / 10 ** (parts[0].split(".")[1] || "").length;
    return numbers[0] > half ? [numbers[0] - half, numbers[0] + half] : null;
  }

  function count(text) {
    const number = (text || "").trim();
    return /^[0-9]{1,6}$/.test(number) && Number(number) ? Number(number) : null;
  }

  function side(inputs) {
    let [quantity, vantage, accounting] = table.counted[inputs.counted] || table.counted[""];
    let called = "decode_rate";
    if (inputs.scope === "sum") {
      if (quantity !== "chunk_rate") quantity = table.sum;
      called = table.sum;
    } else if (!inputs.scope) {
      quantity = null;
    }
    const settings = {
      "config.moe_backend_active": inputs.backend || null,
      "workload.profile": inputs.prompt || null,
      "method.vantage": vantage,
      "method.token_accounting": accounting,
      "workload.concurrency": count(inputs.streams),
      "system.nodes": count(inputs.nodes),
      "model.checkpoint": inputs.checkpoint || null,
      "runtime.version": (inputs.runtime || "").trim() || null,
      "method.warm": { yes: true, no: false }[inputs.warm] ?? null,
    };
    for (const key of Object.keys(settings)) if (settings[key] === null) delete settings[key];
    return { quantity, called, range: parsed(inputs.value || ""), settings };
  }

  function statuses(mine, other) {
    const found = {};
    for (const key of table.deciding) {
      const x = mine.settings[key];
      const y = other.settings[key];
      found[key] = x === undefined || y === undefined ? "not_stated" : x === y ? "same" : "differs";
    }
    return found;
  }

  const counted = (keys, status) => Object.values(keys).filter((s) => s === status).length;

  function distance(mine, other) {
    let rank = 3;
    if (mine.quantity && mine.quantity === other.quantity) rank = 0;
    else if (mine.quantity === null && mine.called === other.quantity) rank = 1;
    else if (!(mine.quantity && other.quantity)) rank = 2;
    const keys = statuses(mine, other);
    return [rank, counted(keys, "differs"), counted(keys, "not_stated")];
  }

  const compare = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

  function factors(mine, other, keys) {
    const found = [];
    if ((mine.quantity || mine.called) !== other.quantity) return found;
    for (const key of table.deciding.filter((k) => keys[k] === "differs")) {
      const before = other.settings[key];
      const after = mine.settings[key];
      const fitting = [];
      for (const w of table.worths) {
        if (w.key !== key || w.quantity !== other.quantity) continue;
        if (w.before === before && w.after === after) fitting.push([w.low, w.high, w.source]);
        else if (w.before === after && w.after === before) fitting.push([1 / w.high, 1 / w.low, w.source]);
      }
      if (fitting.length) {
        found.push({
          key,
          low: Math.min(...fitting.map((f) => f[0])),
          high: Math.max(...fitting.map((f) => f[1])),
          sources: [...new Set(fitting.map((f) => f[2]))].sort(),
        });
      }
    }
    return found;
  }

  const gap = (a, b) => Math.max(a[0] / b[1], b[0] / a[1], 1);

  function verdict(mine, other, keys, known, expected) {
    if (mine.quantity && mine.quantity !== other.quantity) return "not_comparable";
    if (!mine.quantity) return "cannot_be_said";
    const unstated = Object.values(keys).includes("not_stated");
    const valued = known.map((factor) => factor.key);
    const unvalued = Object.keys(keys).some((key) => keys[key] === "differs" && !valued.includes(key));
    const before = gap(mine.range, other.range);
    const after = gap(mine.range, expected);
    if (after === 1 && !unvalued && (before > 1 || !unstated)) return "explained";
    if (known.length && before > 1 && after ** 2 <= before) return "partly";
    return unstated || after === 1 ? "cannot_be_said" : "unexplained";
  }

  function questions(keys) {
    const found = {};
    for (const question of ["backend", "prompt", "vantage", "concurrency", "other"]) {
      const mine = Object.keys(keys).filter((key) => table.question_of[key] === question).map((key) => keys[key]);
      found[question] = mine.includes("differs") ? "differs" : mine.includes("not_stated") ? "not_stated" : "same";
    }
    return found;
  }

  function notes(inputs, mine, nearest, tied, left) {
    const found = [];
    const streams = mine.settings["workload.concurrency"];
    const scope = inputs.scope;
    if (mine.quantity === "chunk_rate") found.push("chunks");
    const unknownCount = !("method.token_accounting" in mine.settings) && scope !== "sum";
    if (unknownCount && mine.range[1] <= 1.25 * table.chunk_rates[1]) found.push("maybe_chunks");
    if (scope === "stream" && streams === undefined) found.push("maybe_share");
    if (streams > 1 && scope) found.push(scope === "stream" ? "share" : "sum");
    const alike = (mine.quantity || mine.called) === nearest.quantity && !found.includes("chunks");
    if (alike && !Object.values(statuses(mine, nearest)).includes("differs")) {
      const backends = new Set([nearest, ...tied].map((f) => f.settings["config.moe_backend_active"]).filter(Boolean));
      if (backends.size > 1 && "workload.profile" in mine.settings) found.push("backend_decides");
      if (left <= table.spread[nearest.quantity === table.sum ? "sum" : "stream"]) found.push("usual");
    }
    return found;
  }

  function answer(inputs) {
    const mine = side(inputs);
    if (mine.range === null) return null;
    const own = table.figures.filter((f) => f.own);
    const nearest = own.reduce((a, b) => (compare(distance(mine, b), distance(mine, a)) < 0 ? b : a));
    const best = distance(mine, nearest);
    const tied = own.filter((f) => f !== nearest && compare(distance(mine, f), best) === 0);
    const others = table.figures
      .filter((f) => !f.own && f.range)
      .sort((a, b) => compare(distance(mine, a), distance(mine, b)));
    const keys = statuses(mine, nearest);
    const known = factors(mine, nearest, keys);
    let [low, high] = nearest.range;
    for (const factor of known) [low, high] = [low * factor.low, high * factor.high];
    const said = notes(inputs, mine, nearest, tied, gap(mine.range, [low, high]));
    const unknown = Object.keys(table.checks).filter((key) => !(key in mine.settings));
    if (said.includes("maybe_chunks")) {
      unknown.sort((a, b) => (a !== "method.token_accounting") - (b !== "method.token_accounting"));
    }
    const streams = mine.settings["workload.concurrency"];
    const sums = others.filter((f) => f.quantity === table.sum && f.settings["workload.concurrency"] === streams);
    return {
      nearest: nearest.id,
      tied: tied.map((f) => f.id),
      others: others.slice(0, 3).map((f) => f.id),
      sums: said.includes("share") ? sums.slice(0, 3).map((f) => f.id) : [],
      keys,
      questions: questions(keys),
      factors: known,
      expected: [low, high],
      verdict: verdict(mine, nearest, keys, known, [low, high]),
      notes: said,
      checks: unknown,
    };
  }

  // The page

  function make(tag, content, attributes = {}) {
    const element = document.createElement(tag);
    for (const part of [].concat(content)) element.append(part);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  function number(value) {
    const places = value >= 100 ? 0 : 1;
    const [whole, rest] = value.toFixed(places).split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, say.digits.thousands);
    return rest ? grouped + say.digits.decimal + rest : grouped;
  }

  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const figure = (id) => table.figures.find((f) => f.id === id);

  function link(id) {
    const found = figure(id);
    const text = found.text[say.language];
    const href = `${form.dataset.root}${found.own ? "figures" : "published"}/#${id}`;
    return make("a", `${text.name}: ${text.value}\u00a0${text.unit}`, { href });
  }

  // `code` between backticks
  const coded = (text) => text.split("`").map((part, i) => (i % 2 ? make("code", part) : part));

  function separated(parts) {
    return parts.flatMap((part, i) => (i ? ["; ", part] : [part]));
  }

  function noteText(name, inputs, result, mine) {
    const values = {};
    const n = mine.settings["workload.concurrency"];
    if (name === "share" || name === "sum") {
      const times = name === "share" ? n : 1 / n;
      Object.assign(values, { n, low: number(mine.range[0] * times), high: number(mine.range[1] * times) });
    }
    if (name === "maybe_chunks") {
      [values.low, values.high] = table.chunk_rates.map(number);
    }
    if (name === "usual") {
      const sum = figure(result.nearest).quantity === table.sum;
      values.spread = String(table.spread[sum ? "sum" : "stream"].toFixed(2)).replace(".", say.digits.decimal);
    }
    if (name === "backend_decides") {
      values.figures = [result.nearest, ...result.tied]
        .filter((id) => figure(id).settings["config.moe_backend_active"])
        .map((id) => `${figure(id).settings["config.moe_backend_active"]} — ${figure(id).text[say.language].value}`)
        .join(", ");
    }
    return fill(word(`form.note.${name}`), values);
  }

  function show(inputs) {
    const result = answer(inputs);
    form.dataset.answer = JSON.stringify(result);
    reportBox.replaceChildren();
    if (!result) {
      answerBox.replaceChildren(make("p", word("form.no_value")));
      return;
    }
    const mine = side(inputs);
    const parts = result.notes.map((name) => make("p", noteText(name, inputs, result, mine), { class: "note" }));
    if (result.sums.length) parts.push(make("p", [`${word("form.sums")} `, ...separated(result.sums.map(link))]));
    parts.push(make("p", [`${word("form.nearest")} `, link(result.nearest)]));
    const tied = result.tied.slice(0, 3);
    if (tied.length) parts.push(make("p", [`${word("form.tied")} `, ...separated(tied.map(link))]));
    parts.push(
      make(
        "ul",
        Object.entries(result.questions).map(([question, status]) =>
          make("li", `${word(`question_short.${question}`)}: ${word(`delta_status.${status}`)}`, {
            class: `q-${question} is-${status}`,
          })
        ),
        { class: "delta" }
      )
    );
    const verdictWord = make("b", word(`delta_verdict.${result.verdict}`));
    parts.push(make("p", [`${word("register.column.verdict")}: `, verdictWord], { class: "verdict" }));
    if (result.factors.length) {
      parts.push(make("h3", word("form.worth")));
      const items = result.factors.map((factor) => {
        const ends = [...new Set([factor.low, factor.high].map((end) => end.toPrecision(2)))];
        const shown = `×${ends.join(say.digits.dash)}`.replace(/\./g, say.digits.decimal);
        const known = factor.sources.filter(figure);
        const from = known.length ? [" (", ...separated(known.map(link)), ")"] : [];
        return make("li", [`${word(`key.${factor.key}`)}: ${shown}`, ...from]);
      });
      parts.push(make("ul", items));
      const [low, high] = result.expected.map(number);
      parts.push(make("p", fill(word("form.expected"), { low, high })));
    }
    parts.push(make("p", [`${word("form.others")} `, ...separated(result.others.map(link))]));
    if (result.checks.length) {
      parts.push(make("h3", word("form.check")));
      for (const key of result.checks.slice(0, 4)) {
        const check = table.checks[key];
        parts.push(make("p", coded(check[say.language])), make("pre", make("code", check.command)));
      }
    }
    answerBox.replaceChildren(...parts);
    report(inputs, mine);
  }

  // What the issue form asks, as far as it is answered here: field → text.
  function sent(inputs, mine) {
    const choice = (field, value) => say.choices[field]?.[String(value)] ?? String(value);
    const found = { value: inputs.value.trim(), unit: "tok/s" };
    if (inputs.scope) found.scope = choice("scope", inputs.scope);
    if (mine.quantity) found.quantity = choice("quantity", mine.quantity);
    if (inputs.prompt) found.prompt_class = choice("prompt_class", inputs.prompt);
    for (const [key, value] of Object.entries(mine.settings)) {
      const field = key.replace(".", "-");
      if (key !== "workload.profile" && field in say.report) found[field] = choice(field, value);
    }
    return found;
  }

  function report(inputs, mine) {
    const fields = sent(inputs, mine);
    const body = Object.keys(say.report)
      .map((id) => `### ${say.report[id]}\n\n${fields[id] ?? "_No response_"}\n`)
      .join("\n");
    const area = make("textarea", body, { readonly: "", id: "report-text" });
    const copy = make("button", word("form.copy"), { type: "button", class: "md-button" });
    copy.addEventListener("click", async () => {
      area.select();
      try {
        await navigator.clipboard.writeText(body);
      } catch {
        document.execCommand("copy");
      }
      copy.textContent = word("form.copied");
    });
    const save = make("button", word("form.save"), { type: "button", class: "md-button" });
    save.addEventListener("click", () => {
      const address = URL.createObjectURL(new Blob([body], { type: "text/markdown" }));
      make("a", "", { href: address, download: "figure.md" }).click();
      URL.revokeObjectURL(address);
    });
    const actions = [copy, save];
    if (table.repository) {
      const query = new URLSearchParams({ template: `figure.${say.language}.yml`, ...fields });
      const href = `${table.repository.replace(/\/$/, "")}/issues/new?${query}`;
      actions.unshift(make("a", word("form.send"), { href, class: "md-button", rel: "noopener" }));
    }
    reportBox.replaceChildren(
      make("h3", make("label", word("form.report"), { for: "report-text" })),
      make("p", word("form.report_help")),
      area,
      make("p", actions, { class: "actions" })
    );
  }

  // The state is in the address, so that it can be shared.

  const read = () => Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));

  function update() {
    const inputs = read();
    const query = new URLSearchParams(Object.entries(inputs).filter(([, value]) => value));
    history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
    show(inputs);
  }

  fetch(form.dataset.source)
    .then((response) => (response.ok ? response.json() : Promise.reject(new Error(response.statusText))))
    .then((data) => {
      table = data;
      const given = new URLSearchParams(location.search);
      for (const [name, value] of given) {
        const field = form.elements.namedItem(name);
        if (field && "value" in field) field.value = value.slice(0, 40);
      }
      form.hidden = false;
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        update();
      });
      form.addEventListener("change", () => read().value && update());
      if (given.get("value")) show(read());
      form.dataset.ready = "true";
    })
    .catch(() => {
      form.hidden = false;
      form.querySelector("fieldset").hidden = true;
      answerBox.replaceChildren(make("p", word("form.no_data")));
    });
})();
