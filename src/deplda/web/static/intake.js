// Where documents come from: files that are opened or dropped, and texts pasted at once.

import { postFile } from "./api.js";
import { newDocument } from "./documents.js";
import { find } from "./dom.js";
import { t } from "./strings.js";

const READ_BY_SERVICE = /\.(pdf|docx|csv|tsv|jsonl|ndjson|xlsx|parquet)(\.gz)?$/i;

// The documents of files, and what went wrong with those that could not be read.
export async function readFiles(files, limits) {
  const found = [], problems = [];
  for (const file of files) {
    try {
      found.push(...(READ_BY_SERVICE.test(file.name) ? await byService(file, limits) : [await plainText(file, limits)]));
    } catch (error) {
      problems.push(`${file.name}: ${error.message}`);
    }
  }
  return { found: found.map((one) => newDocument({ ...one, isAsked: true })), problems };
}

// Plain text never leaves the browser before labels are asked for.
async function plainText(file, limits) {
  if (file.size > 4 * limits.characters) throw new Error(t("file.large", { n: limits.characters }));
  const text = await file.text();
  if (text.includes("\0")) throw new Error(t("file.binary"));
  const name = file.name.replace(/\.[^.]+$/, "");
  return { id: name, title: "", text };
}

async function byService(file, limits) {
  if (file.size > limits.large_body_bytes) throw new Error(t("file.bytes", { n: limits.large_body_bytes >> 20 }));
  const { documents } = await postFile("v1/read", file);
  const name = file.name.replace(/\.[^.]+$/, "");
  return documents.map(({ id, title, text }) => ({ id: id || name, title: title ?? "", text }));
}

export function letDrop(place, takeFiles, takeText) {
  place.addEventListener("dragover", (event) => {
    event.preventDefault();
    place.classList.add("dropping");
  });
  place.addEventListener("dragleave", () => place.classList.remove("dropping"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("dropping");
    const { files } = event.dataTransfer;
    if (files.length) takeFiles(files);
    else if (event.dataTransfer.getData("text").trim()) takeText(event.dataTransfer.getData("text"));
  });
}

// Several texts in one ------------------------------------------------------------------------------

const BETWEEN = { rule: /^[ \t]*[-=*_]{3,}[ \t]*$/m, line: /\n/, blank: /\n[ \t]*\n/ };

const parts = (text, way) =>
  text.replaceAll("\r\n", "\n").split(BETWEEN[way]).map((part) => part.trim()).filter(Boolean);

// A dialog that takes several texts at once.
export function startSeveral(take) {
  const dialog = find("several"), text = find("several-text");
  const found = () => parts(text.value, new FormData(dialog.querySelector("form")).get("way"));
  const count = () => {
    find("several-said").textContent = t("several.found", { n: found().length });
    find("several-add").disabled = !found().length;
  };
  find("many-texts").addEventListener("click", () => {
    count();
    dialog.showModal();
    text.focus();
  });
  dialog.addEventListener("input", count);
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === "add") {
      take(found().map((part) => newDocument({ text: part, isAsked: true })));
      text.value = "";
    }
    dialog.returnValue = "";
  });
}
