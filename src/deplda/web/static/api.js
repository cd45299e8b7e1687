// Talking to the service. Addresses are relative, so that a proxy may put the page anywhere.

import { askToken, shownToken } from "./token.js";

// Of several models, the one that the page's own address names: /?project=ID.
export const project = new URLSearchParams(location.search).get("project");

export async function get(path, query = {}) {
  return answer(await reach(withQuery(path, query)));
}

export async function post(path, body) {
  return answer(await reach(withQuery(path), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  }));
}

function withQuery(path, query = {}) {
  const asked = new URLSearchParams(project === null ? query : { ...query, project }).toString();
  return asked ? `${path}?${asked}` : path;
}

async function reach(path, request = {}) {
  const token = shownToken();
  const shown = token ? { Authorization: `Bearer ${token}` } : {};
  const response = await send(path, { ...request, headers: { ...request.headers, ...shown } });
  if (response.status !== 401) return response;
  await askToken(token);
  return reach(path, request);
}

async function send(...request) {
  try {
    return await fetch(...request);
  } catch {
    throw new Error("The service does not answer. Is it still running?");
  }
}

async function answer(response) {
  const found = await response.json().catch(() => null);
  if (response.ok && found) return found;
  const why = found?.error ?? `status ${response.status}`;
  if (response.status === 503) throw new Error(`The service is busy: ${why}.`);
  throw new Error(`The service says no: ${why}.`);
}
