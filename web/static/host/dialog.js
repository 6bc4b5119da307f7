// The host's one dialog: shows the effects of a step and asks for confirmation.
import { $, el, disableBriefly, isOff, keepFocus, offBriefly, refill, restBriefly, setText, show } from "../lib/dom.js";
import { latest, post, reasonOf } from "../lib/live.js";
import { showRefusal } from "../lib/refusal.js";
import { remember, SEEN_NOTICE } from "../lib/storage.js";
import { t } from "../lib/words.js";

let action = null; // run by "yes"; the dialog closes if it returns true
let dialogNumber = 0; // number of the open question; late replies belong to an older one
let previewNumber = 0; // number of the newest preview request
let isStillValid = null; // returns whether the question still makes sense
let restoreFocus = null;
let moment = null; // the precondition that the preview was made for
let queue = Promise.resolve(); // requests are sent one after the other

/** Send a request after all earlier ones; show a refusal in element `where`.
 * Returns whether it succeeded, null if the server is unreachable: it may have acted. */
export function request(path, body = {}, where = "why") {
  const number = dialogNumber;
  const send = () => sendRequest(path, body, where, number);
  queue = queue.then(send, send);
  return queue;
}

async function sendRequest(path, body, where, number) {
  setText($(where), ""); // the same refusal once more is announced once more
  const answer = await post(path, body);
  if (where !== "ask-why" || number === dialogNumber)
    showRefusal($(where), reasonOf(answer), answer?.data.ruling);
  return answer && answer.ok;
}

/**
 * Open the dialog.
 * @param no closes the dialog
 * @param choices elements to choose from; without any, "yes" is available at once
 * @param isDanger the step destroys something
 * @param isStill returns whether the question still makes sense; the dialog closes if not
 */
export function openDialog(question) {
  const { title, yes, onYes, choices = [], isDanger = false, isStill = () => true } = question;
  action = onYes;
  isStillValid = isStill;
  dialogNumber += 1;
  moment = null;
  setText($("ask-title"), title);
  setText($("ask-yes"), yes);
  setText($("ask-no"), question.no ?? t("game.type_no"));
  setText($("ask-why"), "");
  $("ask-yes").classList.toggle("is-danger", isDanger);
  setText($("ask-lines"), "");
  refill($("ask-choices"), choices);
  $("ask-choices").className = choices[0]?.matches(".rolled-die") ? "rolled" : "choices";
  show($("ask-choices"), choices.length > 0);
  show($("ask-yes"), choices.length === 0);
  if (choices.length > 0) restBriefly($("ask-choices"));
  if ($("ask").open) return;
  restoreFocus = keepFocus();
  $("ask").showModal();
  if (choices.length === 0) disableBriefly($("ask-yes")); // it may cover the button just pressed
}

/** Close the dialog if its question no longer makes sense. */
export function closeIfOutdated() {
  if ($("ask").open && !isStillValid()) close();
}

/** Request and show the effects of a step; "yes" appears with them. */
export async function preview(body) {
  const own = [dialogNumber, (previewNumber += 1)];
  if (moment === null) show($("ask-yes"), false); // without it, a step whose answer was lost could be taken twice
  const answer = await post("/api/preview", body);
  if (String(own) !== String([dialogNumber, previewNumber])) return;
  if (!answer?.ok) {
    showRefusal($("ask-why"), reasonOf(answer), answer?.data.ruling);
    show($("ask-yes"), false);
    return;
  }
  offBriefly($("ask-yes")); // a tap on its way was meant for what was there before
  moment = answer.data.moment;
  refill($("ask-lines"), answer.data.lines.map((text) => el("li", { text })));
  show($("ask-yes"), true);
}

/** Ask for confirmation of a step, with a preview of its effects. */
export function confirmFirst(title, yes, path, what, more = {}) {
  const no = t("host.end_no");
  openDialog({ title, yes, no, onYes: () => takePreviewed(path, {}, { what }), ...more });
  void preview({ what });
}

/** Take the previewed step; if the game has moved on, show a new preview instead.
 * Without an answer the old one stays: a step that was taken must not lead to the next one. */
export async function takePreviewed(path, body, what) {
  const number = dialogNumber;
  const isDone = await request(path, moment === null ? body : { ...body, moment }, "ask-why");
  if (isDone) remember(SEEN_NOTICE, String(latest().revision)); // the dialog has told it
  else if (isDone === false && number === dialogNumber) void preview(what);
  return isDone;
}

/** Take a step chosen in the dialog and close it. */
export async function takeNow(path, body) {
  const number = dialogNumber;
  if ((await request(path, body, "ask-why")) && number === dialogNumber) close();
}

export const setAction = (onYes) => {
  action = onYes;
};

const close = () => $("ask").close();

$("ask-no").addEventListener("click", close);
$("ask").addEventListener("close", () => {
  dialogNumber += 1;
  restoreFocus();
});
$("ask-yes").addEventListener("click", async () => {
  if (isOff($("ask-yes"))) return;
  const [onYes, number] = [action, dialogNumber];
  action = null; // a second tap does nothing
  const isDone = onYes && (await onYes());
  if (number !== dialogNumber) return;
  if (isDone) close();
  else action ??= onYes;
});
