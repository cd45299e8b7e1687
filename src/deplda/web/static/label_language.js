// The language of label names: the one chosen here before, the page's, or else the model's default.

import { nameLabelsIn, post } from "./api.js";
import { documents, renameLabels } from "./documents.js";
import { find, make } from "./dom.js";
import { recall, remember } from "./storage.js";
import { language, languageName } from "./strings.js";

const CHOICE = "label-language";

export function offerLabelLanguages({ label_language: usual, label_languages: known }) {
  const chosen = [recall(CHOICE), language, usual].find((code) => known.includes(code)) ?? null;
  nameLabelsIn(chosen);
  const choice = find("label-language");
  choice.append(...known.map((code) =>
    make("option", { value: code, selected: code === chosen }, languageName(code))));
  choice.parentElement.hidden = known.length < 2;
  choice.addEventListener("change", () => {
    remember(CHOICE, choice.value);
    location.reload();
  });
  return chosen;
}

// Labels of kept documents have the names of the language that was chosen when they were kept.
export async function translateKept({ project, limits }, chosen) {
  const kept = `labels-in:${project}`;
  if (chosen === null || recall(kept) === chosen) return;
  const uris = [...new Set(documents().flatMap(({ suggestions, decisions }) =>
    [...suggestions, ...decisions.values()].map(({ uri }) => uri).filter(Boolean)))];
  const names = new Map();
  for (let at = 0; at < uris.length; at += limits.page) {
    const { labels } = await post("v1/label-names", { uris: uris.slice(at, at + limits.page) });
    for (const { uri, label } of labels) names.set(uri, label);
  }
  renameLabels(names);
  remember(kept, chosen);
}
