// The table view's own voice and chimes, for a screen that stands away from the table's loudspeaker.
// They are off until the button is pressed: browsers want a tap first, and the table may speak itself.
import { $, setAttribute, show } from "../lib/dom.js";
import { recall, remember } from "../lib/storage.js";
import { language, t } from "../lib/words.js";

const KEY = "table-sound";
const USUAL_WORDS = 165; // words a minute that the browser's normal rate stands for
const LOUDNESS = 0.12;
const LATE_MS = 1_000; // a chime that could not sound before is about something past
const CHIMES = {
  roll: [[660, 0, 0.12]],
  corrected: [[660, 0, 0.12]],
  closing: [
    [520, 0, 0.12],
    [520, 0.18, 0.12],
  ],
  closed: [
    [523, 0, 0.14],
    [659, 0.13, 0.14],
    [784, 0.26, 0.3],
  ],
  miss: [
    [330, 0, 0.16],
    [247, 0.16, 0.3],
  ],
  refused: [[220, 0, 0.18]],
  over: [
    [523, 0, 0.16],
    [659, 0.15, 0.16],
    [784, 0.3, 0.16],
    [1047, 0.45, 0.5],
  ],
}; // by kind of announcement: frequency in Hz, start and length in seconds

// kinds that wait for the end of what is being said, as at the loudspeaker; the others cut it off
const WAITING = new Set(["closing", "passed", "left", "refused", "fault", "mended"]);
const UNCUT = new Set(["fault", "mended"]); // nothing cuts these off

let audio = null;
let isUnlocked = false; // by a tap on this page
let newest = null; // number of the newest announcement that was heard
let uncut = null; // the newest of what nothing cuts off, until it is said
let run = ""; // of the program: its announcements count from 1

const isOn = () => recall(KEY) === "on";

/** Offer the button that allows the sound. */
export function offerSound() {
  show($("sound"), true);
  draw();
  globalThis.speechSynthesis?.getVoices(); // the first call only has them fetched
  $("sound").addEventListener("click", () => {
    remember(KEY, isOn() ? "" : "on");
    draw();
    if (isOn()) {
      void chime("closed");
      speak(t("table.sound"), {});
    } else globalThis.speechSynthesis?.cancel();
  });
  document.addEventListener("click", () => isOn() && unlock());
}

/** In a tap, allow sounds outside of taps: also a page loaded anew, whose sound was on, wants one first. */
function unlock() {
  audio ??= new AudioContext();
  void audio.resume();
  if (isUnlocked) return;
  isUnlocked = true;
  globalThis.speechSynthesis?.speak(new SpeechSynthesisUtterance("")); // iPhones later speak what once did in a tap
}

const draw = () => setAttribute($("sound"), "aria-pressed", String(isOn()));

/** Sound new announcements, as much of them as the host chose; those from before are not repeated. */
export function sound({ heard, table, epoch }) {
  if (run && run !== epoch) newest = 0;
  run = epoch;
  const fresh = newest === null ? [] : heard.filter(({ number }) => number > newest);
  newest = heard.length ? heard[heard.length - 1].number : 0;
  if (!fresh.length || !isOn() || !table.sound) return;
  const cut = fresh.map(({ kind }) => !WAITING.has(kind)).lastIndexOf(true);
  const news = fresh.filter(({ kind }, n) => n >= cut || UNCUT.has(kind));
  void chime(fresh[Math.max(cut, 0)].kind);
  if (cut >= 0 && !(uncut && globalThis.speechSynthesis?.speaking)) globalThis.speechSynthesis?.cancel();
  const said = speak(news.map(({ spoken }) => spoken).join(" ").trim(), table);
  if (!said || !news.some(({ kind }) => UNCUT.has(kind))) return;
  uncut = said;
  said.onend = said.onerror = () => {
    if (uncut === said) uncut = null;
  };
}

/** Chime now: what no tap has allowed yet would wait, and all of it would sound at once with the first tap. */
async function chime(kind) {
  audio ??= new AudioContext();
  const asked = Date.now();
  await audio.resume();
  if (Date.now() - asked > LATE_MS) return;
  for (const [pitch, start, length] of CHIMES[kind] ?? []) {
    const [tone, gain] = [audio.createOscillator(), audio.createGain()];
    const at = audio.currentTime + start;
    tone.frequency.value = pitch;
    gain.gain.setValueAtTime(LOUDNESS, at);
    gain.gain.exponentialRampToValueAtTime(0.001, at + length);
    tone.connect(gain).connect(audio.destination);
    tone.start(at);
    tone.stop(at + length);
  }
}

/** Write a text for voices: some read "Weiß 7. mia" as "Weiß siebte", and no dash but the plain one. */
export const asSpoken = (text) =>
  text
    .replaceAll("\u2011", "-")
    .replace(/−(?=\d)/g, `${t("spoken.minus")} `)
    .replaceAll(". ", ".\n");

/** Speak if the browser has a voice of the page's language; a wrong one would not be understood. */
function speak(text, { volume = 100, words_per_minute: words = USUAL_WORDS }) {
  const voice = globalThis.speechSynthesis
    ?.getVoices()
    .find((each) => each.lang.toLowerCase().split(/[-_]/)[0] === language);
  if (!voice || !text) return null;
  const spoken = new SpeechSynthesisUtterance(asSpoken(text));
  spoken.voice = voice;
  spoken.lang = voice.lang;
  spoken.rate = words / USUAL_WORDS;
  spoken.volume = Math.min(1, volume / 100);
  speechSynthesis.speak(spoken);
  return spoken;
}
