// Adding a label that was not suggested: one of the model's, or one's own.

import { get } from "./api.js";
import { combobox } from "./combobox.js";
import { about, decide, keyOf } from "./documents.js";
import { find } from "./dom.js";
import { t } from "./strings.js";

const LOOKED_AT = 40, OFFERED = 8;

// `current` is the document that is shown, `done` what follows when it has another label.
export function startAdding(current, done) {
  combobox(find("another"), find("another-list"), offer, (option) => add(current(), option, done));
}

// Labels whose names begin so come first; a name that no label has can be a label of one's own.
async function offer(typed) {
  say("");
  try {
    const { labels } = await get("v1/labels", { search: typed, size: LOOKED_AT });
    const begins = ({ label }) => label.toLowerCase().startsWith(typed.toLowerCase());
    const found = [...labels.filter(begins), ...labels.filter((one) => !begins(one))].slice(0, OFFERED);
    const isKnown = labels.some(({ label }) => label.toLowerCase() === typed.toLowerCase());
    return [...found.map(option), ...(isKnown ? [] : [freeLabel(typed)])];
  } catch (error) {
    say(error.message);
    return [];
  }
}

function option({ label, uri, notation, matched, documents }) {
  const note = [matched ?? notation, t("count.documents", { n: documents })].filter(Boolean).join(" · ");
  return { label, uri, notation, name: label, note, isFree: false };
}

const freeLabel = (label) =>
  ({ label, name: t("add.free", { label }), note: t("labels.free"), isFree: true });

function add(document, { label, uri, notation, isFree }, done) {
  const key = keyOf({ label, uri });
  if (document.decisions.get(key)?.said === "accepted") return say(t("add.already", { label }));
  const suggested = document.suggestions.find((one) => keyOf(one) === key);
  decide(document, suggested ? about(suggested) : { label, uri, notation, isFree }, "accepted");
  done();
  say(t(isFree ? "add.free-added" : "add.added", { label }));
}

function say(words) {
  find("added").textContent = words;
}
