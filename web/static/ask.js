// One dialog for everything a host is asked: what will change, and whether to do it.
import { $, el, holdBack, keepPlace, say, show } from "./dom.js";
import { post } from "./live.js";
import { t } from "./words.js";

let act = null; // what "yes" does; true closes the dialog
let opened = 0; // which question is asked: what comes late belongs to an older one
let asked = 0; // which preview was asked for last
let fits = null; // whether the question still makes sense
let goBack = null; // leads on where what asked the question is gone
let moment = null; // what the step that was foreseen would be taken on
let before = Promise.resolve(); // what was pressed last

/**
 * Tell what a request was declined with, in the place named; true when it was not.
 *
 * What is pressed reaches the table in that order: of two requests under way the later may arrive first.
 */
export function press(path, body = {}, where = "why") {
  const own = opened;
  const send = () => pressed(path, body, where, own);
  before = before.then(send, send);
  return before;
}

async function pressed(path, body, where, own) {
  const answer = await post(path, body);
  if (where === "ask-why" && own !== opened) return Boolean(answer?.ok);
  say($(where), answer === null ? t("why.unreachable") : answer.ok ? "" : (answer.data.message ?? t("why.unknown")));
  return Boolean(answer?.ok);
}

/**
 * Open the dialog.
 * @param choices elements to choose from; without any, "yes" can be pressed at once
 * @param isStill tells whether the question still makes sense; it is taken back where not
 */
export function ask({ title, yes, does, choices = [], isStill = () => true }) {
  act = does;
  fits = isStill;
  opened += 1;
  moment = null;
  say($("ask-title"), title);
  say($("ask-yes"), yes);
  say($("ask-why"), "");
  $("ask-lines").replaceChildren();
  $("ask-choices").replaceChildren(...choices);
  show($("ask-choices"), choices.length > 0);
  show($("ask-yes"), choices.length === 0);
  if ($("ask").open) return;
  goBack = keepPlace();
  $("ask").showModal();
  if (choices.length === 0) holdBack($("ask-yes")); // it may lie where the question was asked for
}

/** Take a question back that the table has gone on from. */
export function keepAsking() {
  if ($("ask").open && !fits()) shut();
}

/** Show what a step will change; "yes" then takes it. */
export async function foresee(body) {
  const own = [opened, (asked += 1)];
  const answer = await post("/api/preview", body);
  if (String(own) !== String([opened, asked])) return;
  if (!answer?.ok) {
    say($("ask-why"), answer === null ? t("why.unreachable") : answer.data.message);
    show($("ask-yes"), false);
    return;
  }
  moment = answer.data.moment;
  $("ask-lines").replaceChildren(...answer.data.lines.map((text) => el("li", { text })));
  show($("ask-yes"), true);
}

/** Ask before a step of the host, with what it will change. */
export function askFirst(title, yes, path, what) {
  ask({ title, yes, does: () => takeForeseen(path, {}, { what }) });
  void foresee({ what });
}

/** Take the step that was foreseen; where the table has gone on, what it would change now is shown. */
export async function takeForeseen(path, body, what) {
  const own = opened;
  const isDone = await press(path, moment === null ? body : { ...body, moment }, "ask-why");
  if (!isDone && own === opened) void foresee(what);
  return isDone;
}

/** Take a step chosen in the dialog, which closes on it. */
export async function takeNow(path, body) {
  const own = opened;
  if ((await press(path, body, "ask-why")) && own === opened) shut();
}

export const does = (doing) => {
  act = doing;
};

const shut = () => $("ask").close();

$("ask-no").addEventListener("click", shut);
$("ask").addEventListener("close", () => {
  opened += 1;
  goBack();
});
$("ask-yes").addEventListener("click", async () => {
  const [doing, own] = [act, opened];
  act = null; // a second tap finds nothing to do
  const isDone = doing && (await doing());
  if (own !== opened) return;
  if (isDone) shut();
  else act ??= doing;
});
