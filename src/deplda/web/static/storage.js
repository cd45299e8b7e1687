// What this browser keeps for the page. A browser that forbids storing only forgets at reload.

const BEFORE = "deplda:";
const forgotten = new Map(); // of a browser without storage, for as long as the page is open

function local() {
  try {
    return window.localStorage;
  } catch {
    return null; // it is forbidden
  }
}

export function recall(name) {
  const value = forgotten.get(name) ?? local()?.getItem(BEFORE + name) ?? "null";
  try {
    return JSON.parse(value);
  } catch {
    return null; // something else wrote it
  }
}

// Returns whether the value will still be there after a reload.
export function remember(name, value) {
  const text = JSON.stringify(value);
  try {
    window.localStorage.setItem(BEFORE + name, text);
    forgotten.delete(name);
    return true;
  } catch {
    forgotten.set(name, text); // it is full, or forbidden
    return false;
  }
}

export function forget(name) {
  forgotten.delete(name);
  local()?.removeItem(BEFORE + name);
}

// The names that begin so, in no order.
export const remembered = (begin) => [...new Set([
  ...Object.keys(local() ?? {}).filter((key) => key.startsWith(BEFORE)).map((key) => key.slice(BEFORE.length)),
  ...forgotten.keys(),
])].filter((name) => name.startsWith(begin));
