// Connection to the server: a stream of snapshots, a watchdog, and polling if the stream fails.
import { randomKey, show } from "./dom.js";
import { recall, remember } from "./storage.js";
import { language, t } from "./words.js";

const WATCHDOG_MS = 15_000; // the server's heartbeat comes every 10 s
const POLL_MS = 5_000;
const HIDDEN_MS = 30_000; // a hidden page closes its stream after this time
const REQUEST_MS = 6_000;
const SLOW_MS = 3_000;
const RETRY_MS = 1_500;
const REOPEN_MS = 15_000;
const RELOADED = "reloaded-for"; // version of the pages for which this page was last loaded anew

const SENDER = "sender"; // this device, and the number of its last answer: one that arrives after a
const SENT = "sent"; // later one, also of another page, no longer counts
const SEATS = "seats"; // of this device; its other pages hear of a change
let state = null;
let source = null;
let view = "";
let dueAt = 0; // time by which the stream has to say something
let isConnected = true;
let pollTimer = 0;
let reopenAt = 0; // time of the next attempt to open a rejected stream
let hiddenTimer = 0;
let posting = 0;
const stateListeners = [];

/** Return the newest snapshot, or null before the first. */
export const latest = () => state;

export function onState(listener) {
  stateListeners.push(listener);
  if (state) listener(state);
}

/** @param as the page's name, if the server counts its viewers */
export function start(as = "") {
  view = as;
  // without styles no cross is seen: the offer to load again stays
  if (getComputedStyle(document.body).getPropertyValue("--paper")) document.getElementById("late").remove();
  const first = document.getElementById("state"); // the page brings its first snapshot with it
  if (first) accept(JSON.parse(first.textContent));
  openStream();
  setInterval(watch, 1_000);
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiddenTimer);
    if (document.visibilityState === "visible") openStream();
    else hiddenTimer = setTimeout(closeStream, HIDDEN_MS);
  });
  // iOS drops streams of sleeping pages silently: every wake-up opens a new one
  addEventListener("pageshow", async (event) => {
    if (!event.persisted) return;
    openStream();
    if (await get("/api/state")) location.reload(); // Safari shows the language and colours of when it was left
  });
  addEventListener("online", openStream);
  addEventListener("focus", () => source ?? openStream()); // it may have been replaced by newer pages
  addEventListener("storage", (event) => {
    if (event.key === SEATS && document.visibilityState === "visible") openStream();
  });
  addEventListener("offline", poll);
  addEventListener("pagehide", closeStream);
}

/** Open a new stream, for example after taking a seat. */
export function openStream() {
  closeStream();
  dueAt = Date.now() + REQUEST_MS; // it begins with a snapshot
  source = new EventSource(`/api/events?language=${language}${view && `&view=${view}`}`);
  const own = source;
  own.addEventListener("state", (event) => own === source && receive(JSON.parse(event.data)));
  own.addEventListener("beat", () => own === source && receive(null));
  own.addEventListener("replaced", () => own === source && pollInstead(Infinity));
  own.addEventListener("error", () => {
    if (own !== source) return;
    if (own.readyState === EventSource.CLOSED) pollInstead();
    else poll(); // the browser reconnects; poll meanwhile
  });
}

function closeStream() {
  source?.close();
  source = null;
  stopPolling();
}

function stopPolling() {
  clearTimeout(pollTimer);
  pollTimer = 0; // so that a request without an answer begins it anew
}

function watch() {
  if (source && Date.now() > dueAt) pollInstead();
  followUpdate();
}

/** After an update of the program, load the new page once nobody types, is asked or waits for an answer. */
function followUpdate() {
  const [version] = state?.epoch.split("-") ?? [];
  if (!state || version === document.body.dataset.pages || posting) return;
  if (document.activeElement?.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
  try {
    if (sessionStorage.getItem(RELOADED) === version) return; // in vain: a cache has the old page
    sessionStorage.setItem(RELOADED, version);
  } catch {
    return; // without storage it might go on for ever
  }
  location.reload();
}

/** Poll instead of streaming; a page replaced by newer ones polls until somebody turns to it. */
function pollInstead(forMs = REOPEN_MS) {
  closeStream();
  reopenAt = Date.now() + forMs;
  poll();
}

async function poll() {
  stopPolling();
  const before = dueAt;
  const answer = await request("GET", `/api/state${view && `?view=${view}`}`);
  if (answer?.ok) accept(answer.data);
  if (answer !== null || dueAt === before) setConnected(answer !== null); // else the stream spoke meanwhile
  stopPolling();
  if (source?.readyState === EventSource.OPEN || document.visibilityState !== "visible") return;
  if (source === null && isConnected && Date.now() >= reopenAt) openStream();
  else pollTimer = setTimeout(poll, isConnected ? POLL_MS : RETRY_MS);
}

function receive(snapshot) {
  dueAt = Date.now() + WATCHDOG_MS;
  stopPolling();
  setConnected(true);
  if (snapshot) accept(snapshot);
}

function setConnected(up) {
  if (up === isConnected) return;
  isConnected = up;
  if (up && Number.isFinite(reopenAt)) reopenAt = 0; // it was the table that was away, not the stream that failed
  const banner = document.getElementById("offline"); // a page for streams has none
  if (banner) show(banner, !up);
}

/** Publish a snapshot; false if it is older than the current one. */
function accept(snapshot) {
  // replies and stream messages may overtake each other; after a restart versions begin at 1 again
  if (state && snapshot.epoch === state.epoch && snapshot.version < state.version) return false;
  state = snapshot;
  for (const listener of stateListeners) listener(state);
  return true;
}

/** Whether a reply changed the seats or role that the stream was opened with. */
const hasOtherSeats = (me) => String(me.seats) !== String(state.me.seats) || me.host !== state.me.host;

async function request(method, path, body, signal) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), REQUEST_MS);
  signal?.addEventListener("abort", () => stop.abort());
  try {
    const response = await fetch(path, {
      method,
      headers: { "Page-Language": language, ...(body ? { "Content-Type": "application/json" } : {}) },
      body: body ? JSON.stringify(body) : undefined,
      signal: stop.signal,
      cache: "no-store",
    });
    const { ok, status } = response;
    // the table answers in JSON: what was cut short, or came from a proxy, is no answer
    return { ok, status, data: await response.json() };
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a POST request has no answer yet. */
export const isPosting = () => posting > 0;

/** Return why a request failed, or "" if it succeeded. */
export function reasonOf(answer) {
  if (answer === null) return t("why.unreachable");
  return answer.ok ? "" : (answer.data.message ?? t("why.unknown"));
}

/** Send a GET request; null if the server is unreachable. */
export const get = (path) => request("GET", path);

/** Send a POST request; null if the server is unreachable, or the request no longer wanted. */
export async function post(path, body = {}, signal = undefined) {
  posting += 1;
  const answer = await request("POST", path, body, signal);
  posting -= 1;
  if (signal?.aborted) return null;
  setConnected(answer !== null);
  if (answer === null) {
    if (!pollTimer) pollTimer = setTimeout(poll, RETRY_MS);
    return null;
  }
  const snapshot = answer.ok ? answer.data : answer.data.state;
  if (snapshot?.version === undefined) return answer;
  const had = String(state?.me?.seats);
  if (!accept(snapshot) && hasOtherSeats(snapshot.me)) openStream();
  if (String(snapshot.me?.seats) !== had) remember(SEATS, randomKey());
  return answer;
}

/** Return the turn that is shown: a step that arrives late, after an outage, must not act on another. */
export const turnShown = () => ({ game: state.game?.number, turn: state.game?.turn });

/** Return the key of this device's next answer. A browser that crashed may have lost the last numbers. */
export function newKey() {
  const number = Math.max(Date.now(), 1 + (Number(recall(SENT)) || 0));
  if (!recall(SENDER)) remember(SENDER, randomKey());
  remember(SENT, String(number));
  return `${recall(SENDER)}-${number}`;
}

const rest = (signal) =>
  new Promise((resolve) => {
    setTimeout(resolve, RETRY_MS);
    signal?.addEventListener("abort", resolve);
  });

/**
 * Repeat a POST request, whose body has a key, until the server answers.
 * @param isTimely whether it is still in time; if not, the next answer tells whether it arrived earlier
 * @param signal aborted once the request is no longer wanted
 */
export async function postUntilAnswered(path, body, isTimely, signal) {
  for (;;) {
    const isLast = !isTimely();
    const timer = setTimeout(setConnected, SLOW_MS, false); // the page shows it as taken
    const answer = await post(path, body, signal);
    clearTimeout(timer);
    // 503: the server's disk is busy for a moment
    if (answer !== null && answer.status !== 503) return answer;
    if ((isLast && answer !== null) || signal?.aborted) return null;
    await rest(signal);
    if (signal?.aborted) return null;
  }
}
