// The language menu: the server keeps each browser's choice.
import { $ } from "./dom.js";
import { post } from "./live.js";

const FORM = "language-form";

export function offerLanguages() {
  $("language").addEventListener("change", async (event) => {
    const answer = await post("/api/language", { language: event.target.value || null });
    if (answer?.ok) location.reload();
    else $(FORM).reset();
  });
}
