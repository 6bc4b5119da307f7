// Keeps this device's screen on while a game runs.
//
// Pages without HTTPS have no Wake Lock. There a muted video does it, made from a canvas: Chromium and
// Firefox keep the screen on for a playing MediaStream of any size. WebKit only does so for sound that
// would stop the owner's music, so on Apple's devices the menu says where the screen's time is set.
const FRAME_MS = 1_000;

let isWanted = false;
let lock = null;
let video = null;
let frameTimer = 0;

/** Keep the screen on from now on, or let it go dark. */
export function keepAwake(is) {
  if (is === isWanted) return;
  isWanted = is;
  if (is) void hold();
  else release();
}

/** Whether the screen is known to stay on. */
export const staysAwake = () => lock !== null || (video !== null && !video.paused && !("GestureEvent" in window));

async function hold() {
  if (!isWanted || lock || document.visibilityState !== "visible") return;
  try {
    lock = await navigator.wakeLock.request("screen");
    lock.addEventListener("release", () => {
      lock = null;
    });
    if (!isWanted) release();
  } catch {
    play(); // no HTTPS, or the browser saves power
  }
}

function play() {
  video ??= make();
  video?.play().catch(() => {}); // some browsers want a tap first: the next one tries again
}

/** Make a video of a blank canvas; null where the browser cannot. */
function make() {
  const canvas = document.createElement("canvas");
  if (!canvas.captureStream) return null;
  canvas.width = canvas.height = 16;
  const made = document.createElement("video");
  const draw = () => canvas.getContext("2d").fillRect(0, 0, 16, 16);
  draw();
  made.className = "awake";
  made.muted = made.playsInline = true;
  made.tabIndex = -1;
  made.setAttribute("aria-hidden", "true");
  made.srcObject = canvas.captureStream();
  made.addEventListener("playing", () => {
    clearInterval(frameTimer);
    frameTimer = setInterval(draw, FRAME_MS); // a stream without frames stalls
  });
  document.body.append(made);
  return made;
}

function release() {
  void lock?.release();
  lock = null;
  clearInterval(frameTimer);
  video?.pause();
}

document.addEventListener("visibilitychange", hold);
document.addEventListener("click", hold);
