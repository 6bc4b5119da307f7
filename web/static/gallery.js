// The kept pictures of confirmed rolls, for when people disagree.
import { ask, press } from "./ask.js";
import { $, el, onPress, say, show } from "./dom.js";
import { get } from "./live.js";
import { t } from "./words.js";

async function load() {
  const answer = await get("/api/pictures");
  const pictures = answer?.ok ? answer.data.pictures : [];
  say($("gallery-text"), answer === null ? t("why.unreachable") : !answer.ok ? answer.data.message : pictures.length ? "" : t("host.pictures_none"));
  show($("forget"), pictures.length > 0);
  $("gallery").replaceChildren(...pictures.map(item));
}

function item({ revision, game, turn }) {
  const label = t("host.picture_of", { game, turn });
  const link = el("a", { href: `/api/picture.jpg?revision=${revision}`, target: "_blank", rel: "noopener" });
  link.append(el("img", { src: `/api/picture.jpg?revision=${revision}`, alt: "", loading: "lazy" }), el("span", { text: label }));
  return el("li", {}, link);
}

export function drawGallery({ table }) {
  show($("pictures"), Boolean(table.keeps_pictures));
}

$("pictures").addEventListener("toggle", () => $("pictures").open && load());
onPress($("forget"), () =>
  ask({
    title: t("host.pictures_ask"),
    yes: t("host.pictures_delete"),
    does: async () => {
      const isDone = await press("/api/pictures/delete", { revision: null }, "ask-why");
      if (isDone) await load();
      return isDone;
    },
  }),
);
