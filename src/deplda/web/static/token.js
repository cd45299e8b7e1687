// The token of a service that asks for one: typed in once, kept until the tab is closed.

import { find } from "./dom.js";
import { t } from "./strings.js";

const KEY = "deplda-token";
let asking = null;

export const shownToken = () => sessionStorage.getItem(KEY);

// Resolves when there is another token to try; `wrong` is the one that was not accepted, if any.
export function askToken(wrong) {
  if (shownToken() !== wrong) return Promise.resolve(); // it has been typed in meanwhile
  asking ??= new Promise((done) => {
    const form = find("entry");
    find("entry-said").textContent = wrong ? t("token.wrong") : t("token.needed");
    form.hidden = false;
    find("token").focus();
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      sessionStorage.setItem(KEY, inHeader(find("token").value));
      find("token").value = "";
      form.hidden = true;
      asking = null;
      done();
    }, { once: true });
  });
  return asking;
}

// What a browser would not send in a header is in no token either.
const inHeader = (typed) => typed.replace(/[^!-~]/g, "");
