// Pictures of confirmed rolls.
import { openDialog, request } from "./dialog.js";
import { $, el, onPress, refill, setText, show } from "../lib/dom.js";
import { get, reasonOf } from "../lib/live.js";
import { t } from "../lib/words.js";

async function load() {
  const answer = await get("/api/pictures");
  const pictures = answer?.ok ? answer.data.pictures : [];
  setText($("gallery-text"), reasonOf(answer) || (pictures.length ? "" : t("host.pictures_none")));
  show($("forget"), pictures.length > 0);
  refill($("gallery"), pictures.map(item));
}

function item({ revision, game, turn }) {
  const label = t("host.picture_of", { game, turn });
  const link = el("a", { href: `/api/picture.jpg?revision=${revision}`, target: "_blank", rel: "noopener" });
  link.append(
    el("img", { src: `/api/picture.jpg?revision=${revision}`, alt: "", loading: "lazy" }),
    el("span", { text: label }),
  );
  return el("li", {}, link);
}

export function drawGallery({ table }) {
  show($("pictures"), table.keeps_pictures);
}

$("pictures").addEventListener("toggle", () => $("pictures").open && load());
onPress($("forget"), () =>
  openDialog({
    title: t("host.pictures_ask"),
    yes: t("host.pictures_delete"),
    isDanger: true,
    onYes: async () => {
      const isDone = await request("/api/pictures/delete", { revision: null }, "ask-why");
      if (isDone) await load();
      return isDone;
    },
  }),
);
