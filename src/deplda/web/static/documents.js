// The queue: documents, what was decided of them, and how to take that back. All of it is kept in
// this browser, document by document, so that two tabs do not write over each other.

import { forget, recall, remember, remembered } from "./storage.js";

const ROOM = 4_000_000; // characters of texts; browsers give a page about 5 million in all
const TITLE = 90;

let texts, decided; // what the names of kept texts and decisions begin with
let queue = [];
const history = [];

export const documents = () => queue;

export function openDocuments(project) {
  [texts, decided] = [`text:${project}:`, `decided:${project}:`];
  readAll();
  return queue;
}

// Reads what is kept; documents that are known stay the same objects.
function readAll() {
  const known = new Map(queue.map((one) => [one.key, one]));
  const keys = remembered(texts).map((name) => name.slice(texts.length));
  const unkept = queue.filter((one) => !one.isKept);
  queue = [...keys.map((key) => read(key, known.get(key))), ...unkept]
    .sort((one, other) => (one.key < other.key ? -1 : 1));
}

function read(key, known = { key, isKept: true }) {
  return Object.assign(known, fresh(), textOf(recall(texts + key)), stateOf(recall(decided + key)));
}

// What a label is known by, whatever language its name is in.
export const keyOf = ({ label, uri }) => uri ?? label;

// What is kept may be an earlier version's, or another program's that had this address: what is not
// as it should be is left out, or the page would never open again.
const string = (value) => (typeof value === "string" ? value : "");
const list = (value) => (Array.isArray(value) ? value : []);

const textOf = (kept) => ({ id: string(kept?.id), title: string(kept?.title), text: string(kept?.text) });

const stateOf = (kept) => ({
  suggestions: list(kept?.suggestions).filter((one) => typeof one?.label === "string"),
  nGiven: Number.isInteger(kept?.nGiven) ? kept.nGiven : null,
  decisions: new Map(list(kept?.decisions).filter((one) => typeof one?.[0] === "string" && one[1]?.said)
    .map(([key, about]) => ({ label: key, ...about })).map((one) => [keyOf(one), one])), // earlier keys were names
  ...Object.fromEntries(["isAsked", "isDone", "isSent", "isPreselected"].map((name) => [name, kept?.[name] === true])),
});

// What nothing has been said of: no suggestions asked for, no label decided on.
const fresh = () => ({
  id: "", title: "", text: "", suggestions: [], nGiven: null, decisions: new Map(), isAsked: false, isDone: false, isSent: false,
  isPreselected: false,
});

// When another tab has changed something.
export function onOtherTab(work) {
  addEventListener("storage", ({ key }) => {
    if (key !== null && !key.includes(texts) && !key.includes(decided)) return;
    readAll();
    work();
  });
}

let count = 0;

// Keys sort by when documents came.
const newKey = () => `${Date.now().toString(36).padStart(9, "0")}-${(count++).toString(36).padStart(4, "0")}`;

export function newDocument(given = {}) {
  return { key: newKey(), isKept: true, ...fresh(), ...given };
}

// Puts documents into the queue; each gets an id of its own if it has none.
export function addDocuments(some) {
  const ids = new Set(queue.map((one) => one.id));
  for (const one of some) {
    one.id = unused(one.id || `text-${queue.length + 1}`, ids);
    ids.add(one.id);
    queue.push(one);
    saveText(one);
    saveDecisions(one);
  }
}

function unused(id, taken) {
  let found = id;
  for (let n = 2; taken.has(found); n++) found = `${id}-${n}`;
  return found;
}

export const titleOf = ({ title, text }) => title || shorten(text.trim().split("\n", 1)[0]);

const shorten = (line) => (line.length <= TITLE ? line : `${line.slice(0, TITLE).replace(/\s+\S*$/, "")} …`);

// Keeping ------------------------------------------------------------------------------------------

export const keptCharacters = () => queue.reduce((n, one) => n + (one.isKept ? one.text.length : 0), 0);

export function saveText(document) {
  const { key, id, title, text } = document;
  document.isKept = false;
  document.isKept = keptCharacters() + text.length <= ROOM && remember(texts + key, { id, title, text });
  if (!document.isKept) forget(texts + key);
}

export function saveDecisions(document) {
  if (!document.isKept) return;
  const { suggestions, nGiven, decisions, isAsked, isDone, isSent, isPreselected } = document;
  const state = { suggestions, nGiven, decisions: [...decisions], isAsked, isDone, isSent, isPreselected };
  document.isKept = remember(decided + document.key, state);
}

// Deciding, and taking it back ---------------------------------------------------------------------

// Changes what is decided of a document, so that it can be undone.
export function change(document, work) {
  const { decisions, isDone, isSent } = document;
  const before = { decisions: new Map(decisions), isDone, isSent };
  work(document);
  saveDecisions(document);
  history.push(() => {
    Object.assign(document, before);
    saveDecisions(document);
    return document;
  });
}

// Says accepted or rejected to a label; what was said before is taken back if it is said again.
export function decide(document, one, said) {
  const key = keyOf(one);
  change(document, ({ decisions }) => {
    if (decisions.get(key)?.said === said) decisions.delete(key);
    else decisions.set(key, { ...decisions.get(key), ...one, said });
    document.isDone = document.isSent = false;
  });
}

// What is kept of a suggestion that was decided on.
export const about = ({ label, probability, uri, notation }) => ({ label, probability, uri, notation });

export const accepted = ({ decisions }) => [...decisions.values()].filter(({ said }) => said === "accepted");

// Gives labels other names, by URI. Decisions are changed in place: what undoes them has them, too.
export function renameLabels(names) {
  for (const document of queue) {
    for (const one of [...document.suggestions, ...document.decisions.values()]) one.label = names.get(one.uri) ?? one.label;
    saveDecisions(document);
  }
}

export function removeDocuments(some) {
  queue = queue.filter((one) => !some.includes(one));
  for (const { key } of some) for (const kind of [texts, decided]) forget(kind + key);
  history.push(() => {
    queue = [...queue, ...some].sort((one, other) => (one.key < other.key ? -1 : 1));
    for (const one of some) for (const save of [saveText, saveDecisions]) save(one);
    return some[0];
  });
}

export const canUndo = () => history.length > 0;

// Takes the last change back; returns the document that it was of.
export const undo = () => history.pop()?.() ?? null;
