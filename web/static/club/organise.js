// The organiser's page: who is here, the rounds, and the evening's files.
import { offerDevice } from "../lib/device.js";
import {
  $,
  GUARD_MS,
  el,
  focusOn,
  isOff,
  offBriefly,
  onPress,
  onSubmit,
  pressButton,
  redraw,
  setText,
  show,
  setTextAnew,
} from "../lib/dom.js";
import { latest, onState, post, reasonOf, start } from "../lib/live.js";
import { t } from "../lib/words.js";
import { dateOf, drawRound } from "./round.js";

const form = $("form");
let pressedAt = 0; // when somebody was taken out or back in
let queue = Promise.resolve(); // changes are sent one after the other
let choosing = 0; // choices of the next round's form that are still on their way

function draw(state) {
  const { me, members, drawn } = state;
  const isLet = me.organiser && !$("gate").hidden;
  show($("gate"), !me.organiser);
  show($("desk"), me.organiser);
  show($("broker"), !state.broker);
  if (!me.organiser) return;
  const here = members.filter((member) => member.here).length;
  setText($("h-players"), t("club.players", { count: here }));
  redraw($("members"), members, () => members.map(memberItem));
  redraw($("known"), me.known, () => me.known.map((name) => el("option", { value: name })));
  drawRound(state);
  setText($("missing"), state.missing ? t("club.missing", { count: state.missing }) : "");
  if (!choosing) {
    form.elements.system.value = state.system;
    form.elements.size.value = state.size;
  }
  setText($("draw"), t("club.draw", { number: drawn + 1 }));
  $("draw").disabled = here < 2;
  show($("take-back"), drawn > 0);
  setText($("take-back"), t("club.take_back", { number: drawn }));
  redraw($("exports"), [state.evening, state.earlier], () => [state.evening, ...state.earlier].map(exportItem));
  if (isLet) focusOn($("h-players"));
}

function memberItem(member) {
  const label = t(member.here ? "club.remove" : "club.back", { name: member.name });
  const text = t(member.here ? "club.remove_short" : "club.back_short");
  const button = pressButton({ class: "tool", text, "aria-label": label }, () => {
    pressedAt = Date.now();
    return change(member.here ? "/api/players/remove" : "/api/players/add", { name: member.name });
  });
  if (Date.now() - pressedAt < GUARD_MS) offBriefly(button); // it slid under the finger
  return el("li", { class: member.here ? "is-here" : null }, el("bdi", { text: member.name }), button);
}

const exportItem = (evening) =>
  el(
    "li",
    {},
    el("span", { text: dateOf(evening) }),
    el("a", { class: "big", href: `/export/${evening}.csv`, download: true, text: "CSV" }),
    el("a", { class: "big", href: `/export/${evening}.json`, download: true, text: "JSON" }),
  );

/** Send a change after all earlier ones, as a round is drawn by the form that was chosen just before; show why it
 * was declined. */
function change(path, body, why = "why") {
  const send = async () => {
    const answer = await post(path, body);
    setTextAnew($(why), reasonOf(answer));
    return answer?.ok ?? false;
  };
  queue = queue.then(send, send);
  return queue;
}

onSubmit($("gate-form"), async () => {
  const isLet = await change("/api/organiser", { pin: $("pin").value }, "gate-why");
  $("pin").value = "";
  if (!isLet) $("pin").focus();
});
onSubmit($("add-form"), async () => {
  const name = $("name").value;
  const isAdded = await change("/api/players/add", { name }, "add-why");
  if (isAdded && $("name").value === name) $("name").value = ""; // else the next one is being typed
  $("name").focus();
});
form.addEventListener("change", async () => {
  choosing += 1;
  await change("/api/form", { system: form.elements.system.value, size: Number(form.elements.size.value) });
  choosing -= 1;
  draw(latest());
});
onSubmit(form, async () => {
  if (isOff($("draw"))) return;
  if (await change("/api/rounds/draw", { number: latest().drawn + 1 })) offBriefly($("draw"));
});
onPress($("take-back"), async () => {
  const { drawn } = latest();
  if (!confirm(t("club.take_back_ask", { number: drawn }))) return;
  await change("/api/rounds/take-back", { number: drawn });
  if ($("take-back").hidden) focusOn($("h-round"));
});
offerDevice();
onState(draw);
start();
