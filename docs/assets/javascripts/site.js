// Everything works without it, but for the copy buttons, which it shows, and the theme's own script, which it loads.

// The theme fetches a site map beside each alternate address, on whatever host that is. With a blank at its
// end the link says the same and the theme passes it by.
for (const link of document.querySelectorAll("link[rel=alternate]")) link.rel = "alternate ";

// A button to each block of code. The theme's own stand in landmarks of one name.
const config = JSON.parse(document.getElementById("__config").textContent);
for (const code of document.querySelectorAll(".highlight > pre > code")) {
  // Long lines are scrolled by keyboard; the theme's own script says so late.
  code.tabIndex = 0;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = config.translations["clipboard.copy"];
  button.dataset.done = config.translations["clipboard.copied"];
  code.parentElement.after(button);
}

for (const button of document.querySelectorAll("button.copy")) button.hidden = false;

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button) copy(button);
  // The language switch keeps the section.
  const other = event.target.closest("a.md-select__link[hreflang]");
  if (other) other.hash = location.hash;
});

async function copy(button) {
  const text = button.previousElementSibling;
  try {
    await navigator.clipboard.writeText(text.textContent);
  } catch {
    getSelection().selectAllChildren(text);
    return;
  }
  const label = button.textContent;
  button.textContent = button.dataset.done;
  setTimeout(() => (button.textContent = label), 2000);
}

// A permalink shows the whole entry, not its closed half.
function open() {
  const entry = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const details = entry && entry.matches(".entry") && entry.querySelector("details");
  if (details) details.open = true;
}
addEventListener("hashchange", open);
open();

// The theme's script is as large as a page and holds a phone up for half a second, yet does nothing before a reader
// touches the page: it is fetched then. What was pressed meanwhile is pressed again once it runs.
const events = ["pointermove", "touchstart", "keydown", "wheel", "scroll", "focusin", "click", "change", "beforeprint"];
const pressed = [];
const coming = {};
const { bundle, styles } = document.currentScript.dataset;
let running = false;

function touched(event) {
  const key = event.type === "keydown" && !event.target.closest?.("input, select, textarea");
  if (!running && (key || event.target.name === "__palette")) pressed.push(event);
  load();
}

// A page holds the styles of what is in it. Those of what the theme's script adds come before it, if they come.
async function load() {
  const styled = await bring("link", { id: "theme-styles", rel: "stylesheet", href: styles });
  running = await bring("script", { id: "theme-bundle", src: bundle });
  if (!running) return;
  for (const event of pressed.splice(0)) event.target.dispatchEvent(new event.constructor(event.type, event));
  if (styled) for (const name of events) removeEventListener(name, touched, true);
}

// Whether it came. What did not is tried again at the next touch.
function bring(name, settings) {
  coming[settings.id] ??= new Promise((end) => {
    const element = Object.assign(document.createElement(name), settings);
    element.addEventListener("load", () => end(true));
    element.addEventListener("error", () => {
      element.remove();
      delete coming[settings.id];
      end(false);
    });
    document.head.append(element);
  });
  return coming[settings.id];
}

for (const name of events) addEventListener(name, touched, { capture: true, passive: true });
// A link into the search, or to the words that it found.
if (location.search) load();

// Which of the two switches of colours stands in the header; until then none does.
for (const input of document.getElementsByName("__palette")) {
  input.nextElementSibling.hidden = input.dataset.mdColorScheme !== document.body.dataset.mdColorScheme;
}
