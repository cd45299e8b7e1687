// Where documents come from: files that are opened or dropped, and texts pasted at once.

import { postFile } from "./api.js";
import { newDocument } from "./documents.js";
import { find } from "./dom.js";
import { t } from "./strings.js";

const READ_BY_SERVICE = /\.(pdf|docx|csv|tsv|json|jsonl|ndjson|xlsx|parquet)(\.gz)?$/i;

// The documents of files, what went wrong with those that could not be read, which lack columns, and which were cut.
export async function readFiles(files, limits) {
  const found = [], problems = [], missing = [];
  for (const file of files) {
    try {
      if (READ_BY_SERVICE.test(file.name)) {
        const { documents, notice } = await byService(file, limits);
        found.push(...documents);
        if (notice) missing.push(notice);
      } else found.push(await plainText(file, limits));
    } catch (error) {
      problems.push(`${file.name}: ${error.message}`);
    }
  }
  const cut = found.filter(({ nLeftOut }) => nLeftOut).map(({ id, nLeftOut: n }) => t("file.cut", { id, n }));
  const notices = [...missing, ...cut];
  return { found: found.map(({ id, title, text }) => newDocument({ id, title, text, isAsked: true })), problems, notices };
}

// Plain text never leaves the browser before labels are asked for.
async function plainText(file, limits) {
  if (file.size > 4 * limits.characters) throw new Error(t("file.large", { n: limits.characters }));
  const text = decoded(await file.arrayBuffer());
  if (text.includes("\0")) throw new Error(t("file.binary"));
  if (!text.trim()) throw new Error(t("file.empty"));
  const name = file.name.replace(/\.[^.]+$/, "");
  return { id: name, title: "", text };
}

// UTF-16 has a mark; what is not UTF-8 was written by an older Windows, as the service takes it.
function decoded(bytes) {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  const marked = first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(marked, { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

async function byService(file, limits) {
  if (file.size > limits.large_body_bytes) throw new Error(t("file.bytes", { n: limits.large_body_bytes >> 20 }));
  const { documents, text_fields: fields, missing_text_fields: missing } = await postFile("v1/read", file);
  const name = file.name.replace(/\.[^.]+$/, "");
  return {
    documents: documents.map(({ id, title, text, n_left_out: nLeftOut }) =>
      ({ id: id || name, title: firstLine(title ?? ""), text, nLeftOut })),
    notice: missing.length &&
      t("file.columns", { file: file.name, missing: quoted(missing), n: missing.length, read: quoted(fields) }),
  };
}

const quoted = (names) => names.map((name) => t("quoted", { name })).join(", ");

// That of a PDF or Word file may be its whole beginning.
const firstLine = (title) => title.trim().split("\n", 1)[0];

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
