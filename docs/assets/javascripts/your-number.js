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
      for (const step of steps(key, other.quantity)) {
        if (step.before === other.settings[key] && step.after === mine.settings[key]) found.push({ key, ...step });
      }
    }
    return found;
  }

  function steps(key, quantity) {
    const grouped = new Map();
    const add = (before, after, low, high, source) => {
      const name = JSON.stringify([before, after]);
      if (!grouped.has(name)) grouped.set(name, { before, after, low, high, sources: [] });
      const step = grouped.get(name);
      step.low = Math.min(step.low, low);
      step.high = Math.max(step.high, high);
      step.sources = [...new Set([...step.sources, source])].sort();
    };
    for (const w of table.worths) {
      if (w.key !== key || w.quantity !== quantity) continue;
      add(w.before, w.after, w.low, w.high, w.source);
      add(w.after, w.before, 1 / w.high, 1 / w.low, w.source);
    }
    return [...grouped.values()];
  }

  function elsewhere(mine, other, keys, known) {
    if ((mine.quantity || mine.called) !== other.quantity) return [];
    const valued = known.map((factor) => factor.key);
    const found = [];
    for (const key of table.deciding.filter((k) => keys[k] !== "same" && !valued.includes(k))) {
      const before = other.settings[key];
      const after = mine.settings[key];
      const near = steps(key, other.quantity).filter((step) =>
        after === undefined ? step.before === before : step.after === after
      );
      if (near.length || keys[key] === "differs") found.push({ key, steps: near });
    }
    return found;
  }

  function blocks(inputs, mine, other, keys, known) {
    const valued = known.map((factor) => factor.key);
    const found = inputs.scope ? [] : [{ key: "scope", whose: "yours" }];
    for (const [key, status] of Object.entries(keys)) {
      if (status === "not_stated") {
        found.push({ key, whose: key in mine.settings ? "ours" : key in other.settings ? "yours" : "both" });
      } else if (status === "differs" && !valued.includes(key)) {
        found.push({ key, whose: "no_factor" });
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

  function notes(inputs, mine, nearest, tied) {
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
      const spread = table.spread[nearest.quantity === table.sum ? "sum" : "stream"];
      if ([nearest, ...tied].every((f) => gap(mine.range, f.range) <= spread)) found.push("usual");
    }
    return found;
  }

  function answer(inputs) {
    const mine = side(inputs);
    if (mine.range === null) return null;
    const own = table.figures.filter((f) => f.own);
    const stated = (f) => Object.keys(f.settings).length;
    const nearer = (a, b) => compare(distance(mine, a), distance(mine, b)) || stated(b) - stated(a);
    const nearest = own.reduce((a, b) => (nearer(b, a) < 0 ? b : a));
    const best = distance(mine, nearest);
    const tied = own.filter((f) => f !== nearest && compare(distance(mine, f), best) === 0);
    const others = table.figures
      .filter((f) => !f.own && f.range)
      .sort((a, b) => compare(distance(mine, a), distance(mine, b)));
    const keys = statuses(mine, nearest);
    const known = factors(mine, nearest, keys);
    let [low, high] = nearest.range;
    for (const factor of known) [low, high] = [low * factor.low, high * factor.high];
    const said = notes(inputs, mine, nearest, tied);
    const unknown = Object.keys(table.checks).filter((key) => !(key in mine.settings));
    if (said.includes("maybe_chunks")) {
      unknown.sort((a, b) => (a !== "method.token_accounting") - (b !== "method.token_accounting"));
    }
    const streams = mine.settings["workload.concurrency"];
    const sums = others.filter((f) => f.quantity === table.sum && f.settings["workload.concurrency"] === streams);
    const judged = verdict(mine, nearest, keys, known, [low, high]);
    return {
      nearest: nearest.id,
      tied: tied.map((f) => f.id),
      others: others.slice(0, 3).map((f) => f.id),
      sums: said.includes("share") ? sums.slice(0, 3).map((f) => f.id) : [],
      keys,
      questions: questions(keys),
      factors: known,
      expected: [low, high],
      elsewhere: elsewhere(mine, nearest, keys, known),
      verdict: judged,
      blocks: judged === "cannot_be_said" ? blocks(inputs, mine, nearest, keys, known) : [],
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

  const withCondition = (id) => [link(id), ` (${figure(id).text[say.language].condition})`];

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
      const { text, quantity } = figure(result.nearest);
      const sum = quantity === table.sum;
      values.ours = `${text[say.language].value}\u00a0${text[say.language].unit}`;
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

  // A setting of one side in words.
  function shown(key, side) {
    const value = side.settings[key];
    return value === undefined ? word("not_stated") : setting(key, value);
  }

  function setting(key, value) {
    const name = { "config.moe_backend_active": "backend", "model.checkpoint": "checkpoint" }[key];
    const field = key === "workload.profile" ? "prompt_class" : key.replace(".", "-");
    return say.words[`form.${name}.${value}`] ?? say.choices[field]?.[String(value)] ?? String(value);
  }

  function both(key, mine, other) {
    if (!(key in mine.settings || key in other.settings)) return word("form.neither");
    return fill(word("form.yours_ours"), { mine: shown(key, mine), ours: shown(key, other) });
  }

  const step = (key, before, after) => `${setting(key, before)} → ${setting(key, after)}`;

  // Figures under a heading of their own, each with its condition.
  function named(name, ids) {
    if (ids.length === 1) return [make("p", [`${word(`form.${name}`)} `, ...withCondition(ids[0])])];
    return [make("p", word(`form.${name}`)), make("ul", ids.map((id) => make("li", withCondition(id))))];
  }

  // The keys that are not the same, each with both sides; then those that are.
  function compared(result, mine, other) {
    const with_ = (status) => Object.keys(result.keys).filter((key) => result.keys[key] === status);
    const items = [...with_("differs"), ...with_("not_stated")].map((key) =>
      make("li", `${word(`key.${key}`)}: ${both(key, mine, other)}`, {
        class: `q-${table.question_of[key]} is-${result.keys[key]}`,
      })
    );
    const parts = items.length ? [make("ul", items, { class: "delta" })] : [];
    const same = with_("same").map((key) => word(`key.${key}`));
    if (same.length) parts.push(make("p", `${word("delta_status.same")}: ${same.join(", ")}`, { class: "same" }));
    return parts;
  }

  // The verdict, and what blocks it. A value that fits is no contradiction of a verdict that cannot be said.
  function judged(result, mine, other) {
    const fits = result.notes.includes("usual") && result.verdict !== "explained";
    const said = make("b", word(fits ? "form.fits" : `delta_verdict.${result.verdict}`));
    const parts = [`${word("register.column.verdict")}: `, said, "."];
    if (result.verdict === "not_comparable") {
      const quantities = { mine: word(`quantity.${mine.quantity}`), ours: word(`quantity.${other.quantity}`) };
      parts.push(` ${fill(word("form.yours_ours"), quantities)}.`);
    }
    const reasons = ["ours", "yours", "both", "no_factor"].flatMap((whose) => {
      const keys = result.blocks.filter((block) => block.whose === whose).map((block) => block.key);
      const names = keys.map((key) => {
        if (key === "scope") return word("form.open_scope");
        const differing = whose === "no_factor" ? ` (${step(key, other.settings[key], mine.settings[key])})` : "";
        return word(`key.${key}`) + differing;
      });
      return names.length ? [` ${word(`form.blocks.${whose}`)}: ${names.join(", ")}.`] : [];
    });
    if (fits && reasons.length) parts.push(` ${word("form.fits_blocked")}`);
    return [...parts, ...reasons];
  }

  function factorText({ low, high }) {
    const ends = [...new Set([low, high].map((end) => end.toPrecision(2)))];
    return `×${ends.join(say.digits.dash)}`.replace(/\./g, say.digits.decimal);
  }

  function sources(ids) {
    const known = ids.filter(figure);
    return known.length ? [" (", ...separated(known.map(link)), ")"] : [];
  }

  function worths(result, mine, other) {
    const items = result.factors.map((factor) =>
      make("li", [
        `${word(`key.${factor.key}`)}, ${step(factor.key, factor.before, factor.after)}: ${factorText(factor)}`,
        ...sources(factor.sources),
      ])
    );
    for (const { key, steps } of result.elsewhere) {
      const differs = result.keys[key] === "differs";
      const own = differs ? `, ${step(key, other.settings[key], mine.settings[key])}: ${word("form.no_factor")}` : ":";
      const known = steps.slice(0, 4).map((s) => {
        const way = s.high < 1 ? "lower" : s.low > 1 ? "higher" : "either";
        const text = `${step(key, s.before, s.after)} ${factorText(s)}, ${word(`form.reads.${way}`)}`;
        return make("span", [text, ...sources(s.sources)]);
      });
      const lead = differs && known.length ? ` ${word("form.known")} ` : " ";
      items.push(make("li", [word(`key.${key}`) + own + lead, ...separated(known)]));
    }
    if (!items.length) return [];
    const parts = [make("h3", word("form.worth")), make("ul", items)];
    if (result.factors.length) {
      const [low, high] = result.expected.map(number);
      parts.push(make("p", fill(word("form.expected"), { low, high })));
    }
    return parts;
  }

  // What to check next; where nothing is left to check, that is said.
  function next(result, other) {
    const parts = [];
    for (const key of result.checks.slice(0, 4)) {
      const check = table.checks[key];
      parts.push(make("p", coded(check[say.language])), make("pre", make("code", check.command)));
    }
    const unvalued = result.elsewhere.map(({ key }) => key).filter((key) => result.keys[key] === "differs");
    if (unvalued.length) {
      const settings = unvalued.map((key) => `${word(`key.${key}`)}: ${shown(key, other)}`).join(", ");
      parts.push(make("p", fill(word("form.repeat"), { settings })));
    }
    const whose = result.blocks.map((block) => block.whose);
    if (whose.includes("ours") && !whose.includes("yours") && !whose.includes("both")) parts.push(make("p", word("form.open_is_ours")));
    return parts.length ? [make("h3", word("form.check")), ...parts] : [];
  }

  function show(inputs) {
    const result = answer(inputs);
    form.dataset.answer = JSON.stringify(result);
    reportBox.replaceChildren();
    const typed = inputs.value.trim();
    form.elements.namedItem("value").setAttribute("aria-invalid", String(!result && typed !== ""));
    if (!result) {
      answerBox.replaceChildren(make("p", typed ? fill(word("form.no_number"), { value: typed }) : word("form.no_value")));
      return;
    }
    const mine = side(inputs);
    const other = figure(result.nearest);
    const parts = result.notes.map((name) => make("p", noteText(name, inputs, result, mine), { class: "note" }));
    if (result.sums.length) parts.push(...named("sums", result.sums));
    parts.push(...named(result.tied.length ? "tied" : "nearest", [result.nearest, ...result.tied]));
    if (result.tied.length) parts.push(make("p", word("form.first_of_tied")));
    parts.push(...compared(result, mine, other));
    parts.push(make("p", judged(result, mine, other), { class: "verdict" }));
    parts.push(...worths(result, mine, other), ...named("others", result.others), ...next(result, other));
    answerBox.replaceChildren(...parts);
    report(inputs, mine);
  }

  // What the issue form asks, as far as it is answered here: field → text.
  function sent(inputs, mine) {
    const choice = (field, value) => say.choices[field]?.[String(value)] ?? String(value);
    const found = { value: inputs.value.trim(), unit: "tok/s" };
    if (inputs.scope) found.scope = choice("scope", inputs.scope);
    if (mine.quantity) found.quantity = choice("quantity", mine.quantity);
    const span = table.windows[inputs.counted];
    if (span) found["method-window"] = choice("method-window", span);
    if (inputs.prompt) found.prompt_class = choice("prompt_class", inputs.prompt);
    for (const [key, value] of Object.entries(mine.settings)) {
      const field = key.replace(".", "-");
      if (key !== "workload.profile" && field in say.report) found[field] = choice(field, value);
    }
    return found;
  }

  function report(inputs, mine) {
    const fields = sent(inputs, mine);
    const open = Object.keys(say.report).filter((id) => !(id in fields));
    const needed = open.filter((id) => say.required.includes(id));
    const labels = (ids) => ids.map((id) => say.report[id]).join("; ");
    const answered = Object.keys(say.report)
      .filter((id) => id in fields || needed.includes(id))
      .map((id) => `### ${say.report[id]}\n\n${fields[id] ?? ""}\n`)
      .join("\n");
    // No field has this heading, so that whoever reads the report as fields passes over the list.
    const rest = open.filter((id) => !needed.includes(id));
    const body = `${answered}\n### ${word("form.left_open")}\n\n${labels(rest)}\n`;
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
    const help = [`${word("form.report_help")} ${fill(word("form.still_needed"), { fields: labels(needed) })}`];
    if (table.repository) {
      const query = new URLSearchParams({ template: `figure.${say.language}.yml`, ...fields });
      const href = `${table.repository.replace(/\/$/, "")}/issues/new?${query}`;
      actions.unshift(make("a", word("form.send"), { href, class: "md-button", rel: "noopener" }));
    } else if (table.run_issue) {
      // Only what is answered: an address has to stay short.
      const href = `${table.run_issue}?${new URLSearchParams({ body: answered })}`;
      actions.unshift(make("a", word("form.send_run"), { href, class: "md-button", rel: "noopener" }));
      help.push(word("form.until"));
    }
    reportBox.replaceChildren(
      make("h3", make("label", word("form.report"), { for: "report-text" })),
      ...help.map((line) => make("p", line)),
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
