// The views and the way between them: #/suggest, #/labels/NAME, #/model.

import { get, project } from "./api.js";
import { fail, find, make } from "./dom.js";
import { offerLabelLanguages } from "./label_language.js";
import { startLabels } from "./labels.js";
import { startModel } from "./model.js";
import { offerLanguages, t, translate } from "./strings.js";
import { startSuggest } from "./suggest.js";

const views = ["suggest", "labels", "model"];
const titles = { suggest: "page.suggest", labels: "views.labels", model: "views.model" };

function show(starters) {
  const [, asked, ...rest] = location.hash.split("/");
  const view = views.includes(asked) ? asked : "suggest";
  fail(null);
  for (const other of views) find(other).hidden = other !== view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#/${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${t(titles[view])} · deplda`;
  starters[view]?.(decode(rest.join("/"))).catch(fail);
}

function decode(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // an address typed by hand
  }
}

async function offerProjects() {
  const { projects } = await get("v1/projects");
  const choice = find("project");
  choice.append(...projects.map(({ project_id: id, name }) =>
    make("option", { value: id, title: name }, id)));
  choice.value = project ?? projects[0].project_id;
  choice.hidden = projects.length < 2;
  choice.addEventListener("change", () => {
    location.search = new URLSearchParams({ project: choice.value }).toString();
  });
}

async function start() {
  translate();
  offerLanguages(find("language"), make);
  await offerProjects();
  const model = await get("v1/model");
  find("about").textContent =
    [model.model, t("count.labels", { n: model.n_labels }), t("count.words", { n: model.n_words })].join(" · ");
  const starters = {
    suggest: startSuggest(model, offerLabelLanguages(model)),
    labels: startLabels(),
    model: startModel(model),
  };
  addEventListener("hashchange", () => {
    show(starters);
    find("content").focus({ preventScroll: true });
    scrollTo(0, 0);
  });
  show(starters);
}

start().catch(fail);
