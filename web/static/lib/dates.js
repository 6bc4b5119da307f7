// Dates and times as the page's language writes them.
import { language } from "./words.js";

const locale = language === "en" ? "en-GB" : language; // the day before the month, as in the game's text
const date = { day: "numeric", month: "long", year: "numeric" };

export const dateForm = new Intl.DateTimeFormat(locale, date);
export const dayForm = new Intl.DateTimeFormat(locale, { weekday: "long", ...date });
export const timeForm = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });

/** Format a date of the table's; text that is no date stays as it is. */
export const dated = (at, form) => (Number.isNaN(Date.parse(at)) ? at : form.format(new Date(at)));
