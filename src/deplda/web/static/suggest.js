// A document, its suggested labels, why, and what the indexer says to each of them.

import { get, post } from "./api.js";
import { chance, colour, fail, find, fixed, later, make, plural } from "./dom.js";
import { copyLabels, saveCsv, saveJson } from "./export.js";
import { showReading } from "./reading.js";
import { hasShares, inWords, showWhy } from "./why.js";

let model, current, pinned;

export function startSuggest(card) {
  model = card;
  forget();
  find("go").addEventListener("click", suggest);
  find("edit").addEventListener("click", edit);
  find("clear").addEventListener("click", clear);
  find("open").addEventListener("click", () => find("file").click());
  find("file").addEventListener("change", () => take(find("file").files[0]));
  find("many").addEventListener("change", () => current.suggestions.length && suggest());
  find("add").addEventListener("submit", addAnother);
  find("another").addEventListener("input", later(150, offerLabels));
  find("copy").addEventListener("click", () => copyLabels(decided("accepted")).then(tell));
  find("save-json").addEventListener("click", () => saveJson(current));
  find("save-csv").addEventListener("click", () => saveCsv(current));
  find("suggest").addEventListener("keydown", onKey);
  const most = Math.min(model.limits.labels, model.explains ? model.limits.explained : Infinity);
  for (const option of [...find("many").options]) if (Number(option.value) > most) option.remove();
  if (!model.takes_text) rejectTexts();
  letDrop(find("suggest"));
  return async () => {};
}

function forget() {
  current = { text: "", suggestions: [], decisions: new Map() };
  pinned = -1;
}

function rejectTexts() {
  find("go").disabled = find("open").disabled = true;
  find("said").textContent =
    "This model was learned from word counts, not from texts. Send counts to the API: see Model.";
}

// From text to suggestions ------------------------------------------------------------------------

async function suggest() {
  const text = find("text").value;
  fail(null);
  if (!text.trim()) return fail(new Error("There is no text yet: paste one, or drop a file."));
  if ([...text].length > model.limits.characters) {
    const most = model.limits.characters.toLocaleString("en");
    return fail(new Error(`The text has more than ${most} characters; take a part of it.`));
  }
  find("go").disabled = true;
  find("said").textContent = "Reading …";
  try {
    const began = performance.now();
    const k = Number(find("many").value);
    // The k likeliest, however unlikely: the reader decides.
    const every = model.has_probabilities ? { threshold: 0 } : {};
    const answer = await post("v1/suggest", { documents: [{ text }], k, ...every });
    const found = answer.documents[0];
    forget();
    current = { ...current, text, suggestions: found.labels };
    say(found, performance.now() - began);
    showSuggestions();
    if (model.explains) await explain(text, k);
  } catch (error) {
    find("said").textContent = "";
    fail(error);
  } finally {
    find("go").disabled = false;
  }
}

function say(found, milliseconds) {
  const words = `${plural(found.n_tokens, "word")} read`;
  const unknown = found.n_unknown ? `, ${found.n_unknown.toLocaleString("en")} unknown to the model` : "";
  find("said").textContent = found.n_tokens
    ? `${words}${unknown}, ${Math.round(milliseconds)} ms.`
    : "The model knows none of these words: these are simply its likeliest labels.";
}

async function explain(text, k) {
  const answer = await post("v1/explain", { document: { text }, k, n_words: 12 });
  if (text !== current.text) return; // another document is shown by now
  current.reasons = answer.labels;
  current.light = showReading(find("reading"), text, answer);
  find("editor").hidden = find("go").hidden = find("open").hidden = true;
  find("reading").hidden = find("edit").hidden = false;
  showBars();
}

function edit() {
  find("editor").hidden = find("go").hidden = find("open").hidden = false;
  find("reading").hidden = find("edit").hidden = true;
  look(-1);
  find("text").focus();
}

function clear() {
  forget();
  find("text").value = find("said").textContent = "";
  find("suggestions").replaceChildren();
  find("tray").hidden = find("legend").hidden = find("scale").hidden = true;
  find("invitation").hidden = false;
  fail(null);
  edit();
}

async function take(file) {
  if (!file) return;
  if (file.size > 4 * model.limits.characters) {
    return fail(new Error(`${file.name} is too large; take a part of it.`));
  }
  const text = await file.text();
  if (text.includes("\0")) {
    return fail(new Error(`${file.name} is not plain text; copy its text and paste it.`));
  }
  clear();
  find("text").value = text;
  if (model.takes_text) await suggest();
}

function letDrop(place) {
  place.addEventListener("dragover", (event) => {
    event.preventDefault();
    place.classList.add("dropping");
  });
  place.addEventListener("dragleave", () => place.classList.remove("dropping"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("dropping");
    const dropped = event.dataTransfer;
    if (dropped.files.length) return take(dropped.files[0]);
    clear();
    find("text").value = dropped.getData("text");
    return suggest();
  });
}

// The list ----------------------------------------------------------------------------------------

function showSuggestions() {
  find("suggestions").replaceChildren(...current.suggestions.map(item));
  find("scale").hidden = !hasThreshold();
  find("scale").textContent = "A bar beyond its middle: the score is above 0.";
  find("invitation").hidden = true;
  find("tray").hidden = false;
  showDecisions();
}

function item(suggestion, number) {
  const { label, probability, score } = suggestion;
  return make("li", {
    class: "suggestion", "--own": colour(number),
    onpointerenter: () => pinned < 0 && look(number),
    onpointerleave: () => pinned < 0 && look(-1),
  },
  make("button", {
    class: "name", "aria-pressed": "false",
    onclick: () => pin(number), onfocus: () => pinned < 0 && look(number),
  }, label, make("span", { class: "hidden" })),
  make("span", { class: "score", title: model.has_probabilities ? "probability" : "score" },
    model.has_probabilities ? chance(probability) : fixed(score)),
  make("button", { class: "accept", "aria-label": `Accept ${label}`, title: "Accept",
    onclick: () => decide(label, "accepted") }, "✓"),
  make("button", { class: "reject", "aria-label": `Reject ${label}`, title: "Reject",
    onclick: () => decide(label, "rejected") }, "✕"),
  make("span", { class: hasThreshold() ? "bar halved" : "bar", "aria-hidden": "true" },
    make("i", { "--share": barLength(suggestion) })),
  make("div", { class: "why-here" }));
}

// Without probabilities, margins of SVMs are judged by a threshold, 0; shares are not.
const hasThreshold = () => !model.has_probabilities && !model.explains;

// How likely it is; a share beside the best one, or how far a margin is from 0.
function barLength({ probability, score }) {
  if (model.has_probabilities) return probability;
  if (hasThreshold()) return 1 / (1 + Math.exp(-score));
  return score / Math.max(current.suggestions[0].score, 1e-9);
}

// Once the reasons are known: how much of each bar is the words', how much was likely before.
function showBars() {
  find("legend").hidden = !current.reasons.every(hasShares);
  current.reasons.forEach((reason, number) => {
    const place = find("suggestions").children[number];
    if (hasShares(reason)) {
      place.querySelector(".bar").replaceChildren(...["words", "prior"].map((part) =>
        make("i", { class: part,
          "--share": barLength(reason) * reason.parts[part] / Math.max(reason.score, 1e-9) })));
    }
    place.querySelector(".hidden").textContent = `, ${inWords(reason)}`;
  });
}

function look(number) {
  [...find("suggestions").children].forEach((place, n) => {
    place.classList.toggle("looked-at", n === number);
    place.querySelector(".name").setAttribute("aria-pressed", String(n === pinned));
  });
  current.light?.(number);
  const place = find("suggestions").children[number];
  const wide = matchMedia("(min-width: 56rem)").matches;
  showWhy(wide ? find("why-place") : place?.querySelector(".why-here"), current.reasons?.[number], number);
}

function pin(number) {
  pinned = pinned === number ? -1 : number;
  look(number);
}

// Decisions ---------------------------------------------------------------------------------------

function decide(label, decision) {
  if (current.decisions.get(label) === decision) current.decisions.delete(label);
  else current.decisions.set(label, decision);
  showDecisions();
}

const decided = (decision) =>
  [...current.decisions].filter(([, said]) => said === decision).map(([label]) => label);

function showDecisions() {
  current.suggestions.forEach(({ label }, number) => {
    const place = find("suggestions").children[number], said = current.decisions.get(label) ?? "open";
    place.dataset.decision = said;
    place.querySelector(".accept").setAttribute("aria-pressed", String(said === "accepted"));
    place.querySelector(".reject").setAttribute("aria-pressed", String(said === "rejected"));
  });
  const accepted = decided("accepted");
  find("accepted").replaceChildren(...accepted.map((label) =>
    make("li", {}, label, make("button", {
      "aria-label": `Take ${label} away`, title: "Take away",
      onclick: () => decide(label, "accepted"),
    }, "✕"))));
  find("copy").disabled = !accepted.length;
  tell(accepted.length ? `${plural(accepted.length, "label")} accepted` : "None accepted yet");
}

function tell(words) {
  find("told").textContent = words;
}

async function offerLabels() {
  const search = find("another").value.trim();
  if (!search) return;
  const { labels } = await get("v1/labels", { search: search.slice(0, 200), size: 12 });
  find("another-list").replaceChildren(...labels.map(({ label }) => make("option", { value: label })));
}

async function addAnother(event) {
  event.preventDefault();
  const label = find("another").value.trim();
  if (!label) return;
  try {
    const known = await get(`v1/labels/${encodeURIComponent(label)}`);
    current.decisions.set(known.label, "accepted");
    find("another").value = "";
    fail(null);
    showDecisions();
  } catch (error) {
    fail(error);
  }
}

// Keys --------------------------------------------------------------------------------------------

function onKey(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (model.takes_text && !find("go").disabled) suggest();
    return;
  }
  const place = event.target.closest(".suggestion");
  if (!place || event.ctrlKey || event.metaKey || event.altKey) return;
  const number = [...place.parentNode.children].indexOf(place);
  const { label } = current.suggestions[number];
  const keys = {
    a: () => { decide(label, "accepted"); step(number + 1); },
    r: () => { decide(label, "rejected"); step(number + 1); },
    ArrowDown: () => step(number + 1),
    ArrowUp: () => step(number - 1),
    Escape: () => { pinned = -1; look(-1); },
  };
  const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function step(number) {
  find("suggestions").children[number]?.querySelector(".name").focus();
}
