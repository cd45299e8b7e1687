// Taking the labels along.

export async function copyLabels(labels) {
  const text = labels.join("\n");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copyByHand(text)) return "The browser does not let this page copy; use JSON or CSV";
  }
  return "Copied, one label a line";
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
  const name = valueOf(suggestions), values = new Map(suggestions.map((one) => [one.label, one[name]]));
  return [...new Set([...values.keys(), ...decisions.keys()])].map((label) => ({
    label, [name]: values.get(label) ?? null, decision: decisions.get(label) ?? "open",
  }));
}

const valueOf = (suggestions) => (suggestions.some((one) => "score" in one) ? "score" : "probability");

export function saveJson(current) {
  const labels = rows(current).filter((row) => row.decision === "accepted").map((row) => row.label);
  save("labels.json", "application/json", JSON.stringify({ labels, suggestions: rows(current) }, null, 1));
}

export function saveCsv(current) {
  const name = valueOf(current.suggestions);
  const lines = rows(current).map((row) => [row.label, row[name] ?? "", row.decision].map(quote).join(","));
  save("labels.csv", "text/csv", [`label,${name},decision`, ...lines, ""].join("\r\n"));
}

export const saveDescription = (description) =>
  save("openapi.json", "application/json", JSON.stringify(description, null, 1));

const quote = (value) =>
  /[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
