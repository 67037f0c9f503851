// Filters and orders the register's tables. Without it the page is complete, only longer.
(function () {
  "use strict";
  const form = document.querySelector(".register-controls");
  if (!form) return;
  const bodies = [...document.querySelectorAll(".register tbody")];
  const rows = bodies.flatMap((body) => [...body.rows]);
  const status = form.querySelector("[data-shown]");
  const order = form.querySelector("#register-order");
  const fields = [...form.querySelectorAll("[data-filter]")];
  const texts = new Map();
  const classes = [...form.querySelector("#register-class").options].map((o) => o.value);
  const verdicts = [...form.querySelector("#register-verdict").options].map((o) => o.value);

  const keys = {
    value: (row) => -Number(row.dataset.value),
    date: (row) => -(Date.parse(row.dataset.date) || 0),
    publisher: (row) => row.dataset.publisher || "\uffff",
    class: (row) => classes.indexOf(row.dataset.class),
    verdict: (row) => verdicts.indexOf(row.dataset.verdict),
  };

  function says(row, words) {
    if (words && !texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return !words || texts.get(row).includes(words);
  }

  function fits(row) {
    return fields.every((field) => {
      const name = field.dataset.filter;
      if (name === "q") return says(row, field.value.trim().toLowerCase());
      return field.value === "*" || row.dataset[name] === field.value;
    });
  }

  function filter() {
    let shown = 0;
    for (const row of rows) {
      row.hidden = !fits(row);
      if (!row.hidden) shown += 1;
    }
    status.textContent = `${status.dataset.shown} ${shown}`;
  }

  function sort() {
    const key = keys[order.value];
    for (const body of bodies) {
      const sorted = [...body.rows].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
      body.append(...sorted);
    }
  }

  status.textContent = `${status.dataset.shown} ${rows.length}`;
  // With the next frame: the page, which has just been read, is not laid out once more for it.
  requestAnimationFrame(() => (form.hidden = false));
  form.addEventListener("input", filter);
  order.addEventListener("change", sort);
  form.addEventListener("submit", (event) => event.preventDefault());
  // A link to an entry that the filter hides shows it again.
  window.addEventListener("hashchange", () => {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (row && row.hidden) {
      form.reset();
      filter();
      row.scrollIntoView();
    }
  });
})();
