// Talking to the service. Addresses are relative, so that a proxy may put the page anywhere.

import { t } from "./strings.js";
import { askToken, shownToken } from "./token.js";

// Of several models, the one that the page's own address names: /?project=ID.
export const project = new URLSearchParams(location.search).get("project");

// The language of label names, where the model has it; see label_language.js.
let labelLanguage = null;

export function nameLabelsIn(language) {
  labelLanguage = language;
}

const WITH_LABELS = /^v1\/(suggest|explain|labels?|topics)\b/;

export async function get(path, query = {}) {
  return answer(await reach(withQuery(path, query)));
}

export const post = (path, body) => send(path, {}, "application/json", JSON.stringify(body));

export const postFile = (path, file) => send(path, { name: file.name }, "application/octet-stream", file);

async function send(path, query, type, body) {
  const request = { method: "POST", headers: { "Content-Type": type }, body };
  return answer(await reach(withQuery(path, query), request));
}

function withQuery(path, query = {}) {
  const asked = new URLSearchParams(query);
  if (project !== null) asked.set("project", project);
  if (labelLanguage !== null && WITH_LABELS.test(path)) asked.set("label_language", labelLanguage);
  return `${asked}` ? `${path}?${asked}` : path;
}

async function reach(path, request = {}) {
  const token = shownToken();
  const shown = token ? { Authorization: `Bearer ${token}` } : {};
  const response = await ask(path, { ...request, headers: { ...request.headers, ...shown } });
  if (response.status !== 401) return response;
  await askToken(token);
  return reach(path, request);
}

async function ask(...request) {
  try {
    return await fetch(...request);
  } catch {
    throw new Error(t("service.silent"));
  }
}

async function answer(response) {
  if (response.status === 204) return null; // it is done, and there is nothing to say
  const found = await response.json().catch(() => null);
  if (response.ok && found) return found;
  const why = found?.error ?? found?.detail ?? `${response.status}`;
  throw new Error(t(response.status === 503 ? "service.busy" : "service.no", { why }));
}
