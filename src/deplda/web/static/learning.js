// Finished documents go to the service's feedback file, where it has one.

import { post } from "./api.js";
import { accepted, documents, saveDecisions } from "./documents.js";
import { t } from "./strings.js";

// Sends all that are finished and not sent yet: one that failed is tried again with the next.
export async function sendFinished(project) {
  const some = documents().filter((one) => one.isDone && !one.isSent && accepted(one).length);
  if (!some.length) return "";
  const body = some.map((one) => ({
    text: one.text, subjects: accepted(one).map(({ label, uri }) => ({ uri: uri ?? label, label })),
  }));
  try {
    await post(`v1/projects/${encodeURIComponent(project)}/learn`, body);
  } catch (error) {
    return t("learn.failed", { why: error.message });
  }
  for (const one of some) {
    one.isSent = true;
    saveDecisions(one);
  }
  return t("learn.sent", { n: some.length });
}
