// A document, its suggested labels, why, and what the indexer says to each of them.

import { startAdding } from "./adding.js";
import { post } from "./api.js";
import {
  about, accepted, addDocuments, change, decide, documents, keyOf, newDocument, onOtherTab, openDocuments,
  removeDocuments, saveDecisions, saveText, undo,
} from "./documents.js";
import { fail, find, later, make } from "./dom.js";
import { exampleText } from "./examples.js";
import { copyLabels, saveCsv, saveJson, saveTsv } from "./export.js";
import { letDrop, readFiles, startSeveral } from "./intake.js";
import { startKeys } from "./keys.js";
import { translateKept } from "./label_language.js";
import { sendFinished } from "./learning.js";
import { showQueue, startQueue } from "./queue.js";
import { asWritten, showReading, startReading } from "./reading.js";
import { recall, remember } from "./storage.js";
import { t } from "./strings.js";
import { items, showAccepted, showDecisions, showSuggestions } from "./suggestions.js";
import { showWhy } from "./why.js";

const WIDE = matchMedia("(min-width: 56rem)");
let model, current, explained, light, pinned = -1, last = 0, asked = 0;

export function startSuggest(card, labelLanguage) {
  model = card;
  startTools();
  startTray();
  startQueue((document) => show(document), model.learns);
  startSeveral(take);
  startReading(find("reading"), find("tip"));
  letDrop(find("suggest"), takeFiles, (text) => take([newDocument({ text, isAsked: true })]));
  startKeys(find("suggest"), suggest, {
    accept: (place) => sayAndStep(place, "accepted"), reject: (place) => sayAndStep(place, "rejected"),
    step, undo: takeBack, next: finish, before: goBack,
    add: () => find("another").focus(), back: () => focusOn(items()[last] ?? items()[0]),
    leave: () => { pinned = -1; look(-1); },
  });
  showInvitation();
  const queue = openDocuments(model.project);
  onOtherTab(() => (documents().includes(current) || !current.text ? showState() : show(documents()[0] ?? newDocument())));
  show(queue.find(({ key }) => key === recall(`at:${model.project}`)) ?? queue.find((one) => !one.isDone) ?? queue[0] ?? newDocument());
  if (!model.takes_text) rejectTexts();
  translateKept(model, labelLanguage).then(showState, fail);
  addEventListener("pagehide", saveTyped); // what was typed just now is not lost either
  addEventListener("beforeunload", (event) => {
    if (documents().some((one) => !one.isKept)) event.preventDefault();
  });
  return async () => {};
}

function startTools() {
  find("go").addEventListener("click", suggest);
  find("edit").addEventListener("click", () => edit(true));
  find("new").addEventListener("click", () => show(newDocument(), { focus: "text" }));
  find("remove").addEventListener("click", () => remove([current]));
  find("remove-all").addEventListener("click", () => remove([...documents()]));
  find("open").addEventListener("click", () => find("file").click());
  find("file").addEventListener("change", async () => {
    await takeFiles(find("file").files);
    find("file").value = ""; // the same file may be opened again
  });
  find("text").addEventListener("input", later(300, saveTyped));
  const most = Math.min(model.limits.labels, model.explains ? model.limits.explained : Infinity);
  for (const option of [...find("many").options]) if (Number(option.value) > most) option.remove();
  const many = recall("many");
  if ([...find("many").options].some(({ value }) => value === many)) find("many").value = many;
  find("many").addEventListener("change", () => {
    remember("many", find("many").value);
    if (current.isAsked) ask();
  });
}

function startTray() {
  startAdding(() => current, showState);
  find("copy").addEventListener("click", () =>
    copyLabels(accepted(current).map(({ label }) => label)).then(tell));
  find("finish").addEventListener("click", finish);
  find("undo").addEventListener("click", takeBack);
  find("save-csv").addEventListener("click", () => {
    saveCsv(documents());
    find("taken").textContent = "";
  });
  find("save-json").addEventListener("click", () => tellSaved(saveJson(documents(), model.fields), "export.no-done", "export.without-done"));
  find("save-tsv").addEventListener("click", () => tellSaved(saveTsv(documents()), "export.no-addresses", "export.without-addresses"));
  find("preselect").checked = recall("preselect") ?? false;
  find("preselect").addEventListener("change", () => {
    remember("preselect", find("preselect").checked);
    preselect();
    showState();
  });
}

// What an export leaves out.
function tellSaved({ isSaved, nWithout: n }, nothing, without) {
  find("taken").textContent = !isSaved ? t(nothing) : n ? t(without, { n }) : "";
}

function rejectTexts() {
  find("go").disabled = find("open").disabled = find("many-texts").disabled = true;
  find("said").textContent = t("text.counts-only");
  find("invitation").hidden = true;
}

function showInvitation() {
  const steps = ["one", "two", "three"].map((step) => make("li", {}, t(`invitation.${step}`)));
  find("invitation").replaceChildren(make("ol", {}, ...steps),
    make("button", { id: "example", onclick: tryExample }, t("invitation.example")),
    make("p", { class: "quiet" }, t("invitation.kept"), model.learns ? ` ${t("learn.hint")}` : ""));
}

async function tryExample() {
  try {
    take([newDocument({ text: await exampleText(), isAsked: true })]);
  } catch (error) {
    problem(error.message);
  }
}

// One document after the other --------------------------------------------------------------------

// Shows a document; the focus goes to its first label, to its text, or stays where it is.
function show(document, { focus = null } = {}) {
  saveTyped();
  current = document;
  remember(`at:${model.project}`, document.key);
  explained = light = null;
  pinned = -1;
  last = 0;
  asked++; // an answer that is still on its way is another document's
  problem(null);
  find("notice").replaceChildren();
  tell("");
  find("said").textContent = "";
  find("text").value = document.text;
  showSuggestions(document, act);
  edit(focus === "text");
  showState();
  if (focus === "label") find("suggest-title").focus({ preventScroll: true }); // until there are labels
  if (document.isAsked && model.takes_text) ask(focus === "label");
}

// What is decided, everywhere where it is shown.
function showState() {
  const isNew = !current.suggestions.length && !current.decisions.size;
  find("suggest-title").textContent = current.title || t("text.title");
  find("invitation").hidden = !isNew || !model.takes_text;
  find("tray").hidden = isNew;
  find("remove").hidden = !documents().includes(current);
  find("new").hidden = !current.text && !current.isAsked;
  showDecisions(current);
  showAccepted(current, (one) => { decide(current, one, "accepted"); showState(); });
  showQueue(current);
}

// What is being typed is a document as soon as it says something.
function saveTyped() {
  if (!current || find("text").value === current.text) return;
  const isKnown = documents().includes(current);
  if (!isKnown && !find("text").value.trim()) return;
  current.text = find("text").value;
  current.isDone = current.isSent = false; // of another text
  if (isKnown) for (const save of [saveText, saveDecisions]) save(current);
  else addDocuments([current]);
  showState();
}

function take(some, problems = []) {
  if (some.length) {
    if (!current.text.trim() && documents().includes(current)) removeDocuments([current]);
    addDocuments(some);
    show(some[0], { focus: "label" });
  }
  problem(problems.join("\n") || null);
}

async function takeFiles(files) {
  find("said").textContent = t("text.reading-files", { n: files.length });
  const { found, problems, notices } = await readFiles(files, model.limits);
  find("said").textContent = "";
  take(found, problems);
  if (notices.length) find("notice").textContent = notices.join(" ");
}

function remove(some) {
  const at = documents().indexOf(some[0]);
  removeDocuments(some);
  current = null; // what was typed goes with it
  show(documents()[Math.min(at, documents().length - 1)] ?? newDocument(), { focus: "text" });
  find("notice").replaceChildren(t("queue.removed", { n: some.length }), " ",
    make("button", { id: "bring-back", class: "plain", onclick: takeBack }, t("tray.undo")));
}

function takeBack() {
  const document = undo();
  if (!document) return tell(t("undo.nothing"));
  if (document !== current) show(document, { focus: "label" });
  else showState();
  tell(t("undo.done"));
}

function goBack() {
  const before = documents()[documents().indexOf(current) - 1];
  if (before) show(before, { focus: "label" });
}

// Done with this one: it goes to the feedback file, if there is one, and the next one comes.
async function finish() {
  const done = current;
  if (done.decisions.size && !done.isDone) change(done, () => { done.isDone = true; });
  const queue = documents(), at = queue.indexOf(done);
  const next = [...queue.slice(at + 1), ...queue.slice(0, at)].find((one) => !one.isDone);
  if (next) show(next, { focus: "label" });
  else {
    showState();
    find("save-csv").focus();
  }
  const said = next ? "" : t(queue.every((one) => one.isDone) ? "queue.all-done" : "queue.no-next");
  tell(said);
  if (model.learns) tell(`${said} ${await sendFinished(model.project)}`);
}

// From text to suggestions ------------------------------------------------------------------------

function suggest() {
  if (find("go").disabled) return;
  saveTyped();
  if (!current.text.trim()) return problem(t("text.none"));
  current.isAsked = true;
  ask(true);
}

async function ask(withFocus = false) {
  const document = current, { text } = document, number = ++asked, k = Number(find("many").value);
  const isLate = () => number !== asked;
  problem(null);
  if ([...text].length > model.limits.characters) {
    return problem(t("text.long", { n: model.limits.characters }));
  }
  find("said").textContent = t("text.reading-it");
  find("suggestions").setAttribute("aria-busy", "true");
  try {
    // The k likeliest, however unlikely: the reader decides.
    const every = model.has_probabilities ? { threshold: 0 } : {};
    const [found] = (await post("v1/suggest", { documents: [{ text }], k, ...every })).documents;
    document.suggestions = found.labels;
    document.nGiven = found.n_given ?? null;
    saveDecisions(document);
    if (isLate()) return;
    say(found);
    showSuggestions(document, act);
    preselect();
    showState();
    if (model.explains && found.labels.length) await explain(document, k, isLate);
    if (withFocus && !isLate()) focusFirst();
  } catch (error) {
    if (isLate()) return;
    find("said").textContent = "";
    problem(error.message);
  } finally {
    if (!isLate()) find("suggestions").removeAttribute("aria-busy");
  }
}

function say({ n_tokens: n, n_unknown: unknown }) {
  const left = unknown ? ` ${t("text.unknown", { n: unknown })}` : "";
  const order = model.has_probabilities ? "" : ` ${t("text.no-chances")}`;
  find("said").textContent = n ? t("text.read", { n }) + left + order : t("text.all-unknown");
}

async function explain({ text, suggestions }, k, isLate) {
  const answer = await post("v1/explain", { document: { text }, k, n_words: 12 });
  const isSame = answer.labels.every((one, n) => suggestions[n] && keyOf(one) === keyOf(suggestions[n]));
  if (isLate() || !isSame) return; // another document is shown by now, or another model answered
  explained = { ...answer, written: asWritten(text, answer.spans) };
  light = showReading(find("reading"), text, answer);
  find("editor").hidden = find("go").hidden = true;
  find("reading").hidden = find("edit").hidden = false;
  look(-1);
}

function edit(withFocus) {
  find("editor").hidden = find("go").hidden = false;
  find("reading").hidden = find("edit").hidden = find("tip").hidden = true;
  look(-1);
  if (withFocus) find("text").focus();
}

// The model's own labels are accepted beforehand, once, where the indexer wants it so.
function preselect() {
  if (!find("preselect").checked || current.isPreselected || current.decisions.size) return;
  const given = current.suggestions.slice(0, current.nGiven ?? 0);
  if (!given.length) return;
  change(current, () => {
    for (const one of given) current.decisions.set(keyOf(one), { ...about(one), said: "accepted" });
  });
  current.isPreselected = true;
  saveDecisions(current);
}

// Looking at labels, and deciding -------------------------------------------------------------------

const act = {
  look: (number) => look(number),
  leave: () => look(pinned >= 0 ? pinned : numberOf(document.activeElement.closest(".suggestion"))),
  pin: (number) => {
    pinned = pinned === number ? -1 : number;
    look(number);
  },
  decide: (number, said) => sayTo(number, said),
};

function look(number) {
  items().forEach((place, n) => {
    place.classList.toggle("looked-at", n === number);
    place.querySelector(".name").setAttribute("aria-pressed", String(n === pinned));
  });
  if (number >= 0) last = number;
  light?.(number, number < 0 ? spokenFor() : []);
  const place = WIDE.matches ? find("why-place") : items()[number]?.querySelector(".why-here");
  showWhy(place, explained, number, number < (current.nGiven ?? Infinity));
}

// Whose words are lit while none is looked at: the labels above the line, and those accepted.
function spokenFor() {
  const said = (one) => current.decisions.get(keyOf(one))?.said;
  return explained.labels.map((one, number) => ({ said: said(one), number }))
    .filter(({ said, number }) => said !== "rejected" && (number < current.nGiven || said))
    .map(({ number }) => number);
}

function sayTo(number, said) {
  const one = current.suggestions[number];
  decide(current, about(one), said);
  showState();
  tell(current.decisions.has(keyOf(one)) ? t(`told.${said}`, { label: one.label }) : t("told.open", { label: one.label }));
}

const numberOf = (place) => items().indexOf(place);

function sayAndStep(place, said) {
  sayTo(numberOf(place), said);
  if (place.dataset.decision === said) step(place, 1);
}

const step = (place, by) => focusOn(items()[numberOf(place) + by]);

function focusOn(place) {
  place?.querySelector(".name").focus();
}

// After suggesting the first label is selected, so that the keys act on what is visibly marked.
const focusFirst = () => items()[0]?.querySelector(".name").focus({ preventScroll: WIDE.matches });

// Saying ------------------------------------------------------------------------------------------------

function tell(words) {
  find("told").textContent = words;
}

// What went wrong is said below the text, where the buttons are.
function problem(message) {
  fail(null);
  find("entry-problem").textContent = message ?? "";
  find("entry-problem").hidden = !message;
}
