// The queue as it is shown: which document this is, how many are done, and all of them as a list.

import { accepted, canUndo, documents, keptCharacters, titleOf } from "./documents.js";
import { find, make } from "./dom.js";
import { number, t } from "./strings.js";

let hint = ""; // what becomes of documents beside being kept here

export function startQueue(show, learns) {
  hint = learns ? ` ${t("learn.hint")}` : "";
  const step = (by) => () => {
    const queue = documents(), at = queue.findIndex((one) => one.key === shownKey);
    if (queue[at + by]) show(queue[at + by]);
  };
  find("before").addEventListener("click", step(-1));
  find("after").addEventListener("click", step(1));
  find("documents").addEventListener("click", ({ target }) => {
    const found = documents().find(({ key }) => key === target.closest("button")?.dataset.key);
    if (found) show(found);
  });
  find("unfold").addEventListener("click", () => {
    const isOpen = find("queue").classList.toggle("unfolded");
    find("unfold").setAttribute("aria-expanded", String(isOpen));
  });
}

let shownKey = "";

export function showQueue(current) {
  const queue = documents(), at = queue.indexOf(current), nDone = queue.filter((one) => one.isDone).length;
  shownKey = current.key;
  find("queue").hidden = queue.length < 2;
  find("suggest").classList.toggle("with-queue", queue.length > 1);
  find("queue-said").textContent = at < 0 ? t("queue.new") : t("queue.at", { at: at + 1, n: queue.length });
  find("queue-done").textContent = t("queue.done", { n: nDone });
  find("progress").max = Math.max(queue.length, 1);
  find("progress").value = nDone;
  find("before").disabled = at === 0;
  find("after").disabled = at === queue.length - 1;
  showEntries(queue, current);
  find("undo").disabled = !canUndo();
  showTaking(queue);
}

// The list keeps its place and its focus; only the list scrolls, never the page.
function showEntries(queue, current) {
  const list = find("documents"), before = list.scrollTop;
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  list.replaceChildren(...queue.map((one) => entry(one, one === current)));
  list.scrollTop = before;
  const place = list.querySelector("[aria-current]");
  const below = place ? place.getBoundingClientRect().top - list.getBoundingClientRect().top : 0;
  if (below < 0 || below > list.clientHeight - 30) list.scrollTop += below - list.clientHeight / 2;
  if (focused) list.querySelector(`[data-key="${focused}"]`)?.focus({ preventScroll: true });
}

function entry(document, isCurrent) {
  const n = accepted(document).length;
  const state = document.isDone ? t("queue.is-done") : n ? t("queue.is-begun") : t("queue.is-open");
  return make("li", {}, make("button", {
    class: `entry ${document.isDone ? "done" : n ? "begun" : ""}`, "data-key": document.key,
    "aria-current": isCurrent ? "true" : null,
  }, make("span", { class: "state", role: "img", "aria-label": state, title: state }, document.isDone ? "✓" : ""),
  make("span", { class: "entry-title" }, titleOf(document) || t("queue.untitled")),
  make("small", { title: t("count.labels", { n }) }, n ? number(n) : "")));
}

// What is there to be taken along, and where it is kept until then.
function showTaking(queue) {
  find("taking").hidden = !queue.length;
  find("taking-title").textContent = t("export.title", { n: queue.length });
  const nUnkept = queue.filter((one) => !one.isKept).length;
  find("kept").classList.toggle("problem", nUnkept > 0);
  find("kept").textContent = nUnkept ? t("queue.unkept", { n: nUnkept })
    : t("queue.kept", { size: number(Math.ceil(keptCharacters() / 1000), { style: "unit", unit: "kilobyte" }) }) + hint;
}
