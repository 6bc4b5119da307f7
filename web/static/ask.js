// One dialog for everything a host is asked: what will change, and whether to do it.
import { $, el, say, show } from "./dom.js";
import { post } from "./live.js";
import { t } from "./words.js";

let act = null; // what "yes" does; true closes the dialog

/** Tell what a request was declined with, in the place named; true when it was not. */
export async function press(path, body = {}, where = "why") {
  const answer = await post(path, body);
  say($(where), answer === null ? t("why.unreachable") : answer.ok ? "" : (answer.data.message ?? t("why.unknown")));
  return Boolean(answer?.ok);
}

/**
 * Open the dialog.
 * @param choices elements to choose from; without any, "yes" can be pressed at once
 */
export function ask({ title, yes, does, choices = [] }) {
  act = does;
  say($("ask-title"), title);
  say($("ask-yes"), yes);
  say($("ask-why"), "");
  $("ask-lines").replaceChildren();
  $("ask-choices").replaceChildren(...choices);
  show($("ask-choices"), choices.length > 0);
  show($("ask-yes"), choices.length === 0);
  if (!$("ask").open) $("ask").showModal();
}

/** Show what a step will change; "yes" then takes it. */
export async function foresee(body) {
  const answer = await post("/api/preview", body);
  if (!answer?.ok) {
    say($("ask-why"), answer === null ? t("why.unreachable") : answer.data.message);
    show($("ask-yes"), false);
    return;
  }
  $("ask-lines").replaceChildren(...answer.data.lines.map((text) => el("li", { text })));
  show($("ask-yes"), true);
}

/** Ask before a step of the host, with what it will change. */
export function askFirst(title, yes, path, what) {
  ask({ title, yes, does: () => press(path, {}, "ask-why") });
  void foresee({ what });
}

export const does = (doing) => {
  act = doing;
};

export const shut = () => $("ask").close();

$("ask-no").addEventListener("click", shut);
$("ask-yes").addEventListener("click", async () => {
  const doing = act;
  act = null; // a second tap finds nothing to do
  if (doing && (await doing())) shut();
  else act = doing;
});
