// What the page says, in the reader's language: t("count.labels", { n: 3 }).
//
// A string holds {name} for a value; numbers are written as the language writes them. A string that
// depends on a number n is several, by its plural form: { one: "{n} label", other: "{n} labels" }.

import { recall, remember } from "./storage.js";
import { SUGGEST } from "./strings_suggest.js";
import { VIEWS } from "./strings_views.js";
import { WHY } from "./strings_why.js";

export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", fi: "Suomi" };
export const STRINGS = { ...SUGGEST, ...WHY, ...VIEWS };

const known = (code) => (Object.hasOwn(LANGUAGES, code) ? code : null);

// What the address asks for (?lang=fi), what was chosen before, or the browser's languages.
export const language = known(new URLSearchParams(location.search).get("lang"))
  ?? known(recall("language"))
  ?? navigator.languages.map((code) => known(code.slice(0, 2).toLowerCase())).find(Boolean)
  ?? "en";

const plurals = new Intl.PluralRules(language);

const languageNames = new Intl.DisplayNames(language, { type: "language" });

export function languageName(code) {
  try {
    return languageNames.of(code);
  } catch {
    return code; // it is not a language tag
  }
}

export const number = (value, how) => new Intl.NumberFormat(language, how).format(value);

function form(key, values) {
  const found = STRINGS[key][language];
  return typeof found === "string" ? found : found[plurals.select(values.n)] ?? found.other;
}

const shown = (value) => (typeof value === "number" ? number(value) : value);

export const t = (key, values = {}) =>
  form(key, values).replace(/\{(\w+)\}/g, (_, name) => String(shown(values[name])));

// The same where values are elements, or lists of them: pieces for `make`.
export const told = (key, values) =>
  form(key, values).split(/\{(\w+)\}/).flatMap((piece, n) => (n % 2 ? shown(values[piece]) : piece));

// The page's own elements: data-t is the key of their text, data-t-NAME that of an attribute.
export function translate(root = document) {
  document.documentElement.lang = language;
  for (const element of root.querySelectorAll("*")) {
    for (const [name, key] of Object.entries(element.dataset)) {
      if (name === "t") element.prepend(t(key));
      else if (/^t[A-Z]/.test(name)) element.setAttribute(attribute(name), t(key));
    }
  }
}

const attribute = (name) => name.slice(1).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).slice(1);

export function offerLanguages(choice, make) {
  choice.append(...Object.entries(LANGUAGES).map(([code, name]) =>
    make("option", { value: code, lang: code, selected: code === language }, name)));
  choice.addEventListener("change", () => {
    remember("language", choice.value);
    const query = new URLSearchParams(location.search);
    query.set("lang", choice.value);
    location.search = query.toString();
  });
}
