// Taking labels along: those of one document by the clipboard, those of the whole queue as a file.

import { accepted, keyOf, titleOf } from "./documents.js";
import { number, t } from "./strings.js";

export async function copyLabels(labels) {
  const text = labels.join("\n");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copyByHand(text)) return t("export.no-copy");
  }
  return t("export.copied");
}

// Where a page that came over plain HTTP may not use the clipboard.
function copyByHand(text) {
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

// Every suggestion and every label added by hand, with what was said to it.
function rows({ suggestions, decisions }) {
  const suggested = new Map(suggestions.map((one) => [keyOf(one), one]));
  return [...new Set([...suggested.keys(), ...decisions.keys()])].map((key) => {
    const { said = "open", isFree = false, ...about } = decisions.get(key) ?? {};
    const { label, uri = null, notation = null, probability = null } = { ...about, ...suggested.get(key) };
    const kind = isFree ? "free" : suggested.has(key) || probability !== null ? "suggested" : "added";
    return { label, uri, notation, probability, decision: said, kind };
  });
}

// The documents that are done, in the model's own fields: `deplda learn` reads them. Others would be
// learned as if they had no more labels. Returns how many are left out.
export function saveJson(queue, { id, title, text, empty, labels }) {
  const done = queue.filter((one) => one.isDone);
  const documents = done.map((one) => ({
    [id]: one.id, ...(title && { [title]: titleOf(one) }), [text]: one.text,
    ...Object.fromEntries(empty.map((name) => [name, ""])),
    [labels]: accepted(one).map(({ label, uri }) => uri ?? label), suggestions: rows(one),
  }));
  if (done.length) save("json", "application/json", JSON.stringify(documents, null, 1));
  return { isSaved: done.length > 0, nWithout: queue.length - done.length };
}

const COLUMNS = ["label", "uri", "notation", "probability", "decision", "kind"];

// Excel parts columns and writes fractions as its language does: where a comma is decimal, columns
// are parted by semicolons. The byte-order mark is for Excel, too: without it, it is not UTF-8.
export function saveCsv(queue) {
  const decimal = number(0.5)[1], between = decimal === "," ? ";" : ",";
  const shown = (value) => (typeof value === "number" ? String(value).replace(".", decimal) : value ?? "");
  const lines = queue.flatMap((one) => {
    const before = [one.id, titleOf(one)], found = rows(one);
    const own = found.length ? found : [{}]; // a document without labels has a line, too
    return own.map((row) => [...before, ...COLUMNS.map((name) => shown(row[name]))].map(harmless).map(quote).join(between));
  });
  save("csv", "text/csv", `\ufeff${[["id", "title", ...COLUMNS].join(between), ...lines, ""].join("\r\n")}`);
}

// Annif's TSV holds texts and addresses of concepts alone; returns how many labels have none.
export function saveTsv(queue) {
  const labels = queue.map(accepted);
  const isAddress = ({ uri }) => /^[^\s<>]+$/.test(uri ?? ""); // it stands in angle brackets there
  const nWithout = labels.flat().filter((label) => !isAddress(label)).length;
  if (nWithout === labels.flat().length) return { isSaved: false, nWithout };
  const lines = queue.map(({ text }, number) => [
    text.replace(/[\t\r\n]+/g, " ").trim(),
    labels[number].filter(isAddress).map(({ uri }) => `<${uri}>`).join(" "),
  ].join("\t"));
  save("tsv", "text/tab-separated-values", `${lines.join("\n")}\n`);
  return { isSaved: true, nWithout };
}

export const saveDescription = (description) =>
  download("openapi.json", "application/json", JSON.stringify(description, null, 1));

// Names of files, labels and texts are others': a spreadsheet must not take one for a formula, nor a
// part of one if it splits cells at another sign. The same rule as in data/readers/tables.py.
const harmless = (cell) =>
  (typeof cell === "string" ? cell.replace(/(^|[;,|\t\r\n])('*[=+\-@＝＋－＠])/g, "$1'$2") : cell);

const quote = (value) =>
  /[",;\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

const save = (ending, type, content) => download(`deplda-${today()}.${ending}`, type, content);

const today = (now = new Date()) =>
  [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((n) => String(n).padStart(2, "0")).join("-");

function download(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
