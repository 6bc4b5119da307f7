// Why something was refused, with a link to the ruling that it rests on.
import { el, setText } from "./dom.js";
import { t } from "./words.js";

/** Show a refusal in an element; without a text, clear it. */
export function showRefusal(node, text, ruling = null) {
  setText(node, text);
  if (text && ruling) node.append(" ", el("a", { href: `/rules#${ruling}`, text: t("why.rule") }));
}
