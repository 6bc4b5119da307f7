// The seconds until an open action closes: each snapshot sets them, the page's own clock runs them down.
export class Countdown {
  #closesAt = 0; // in milliseconds of performance.now()
  #set = ""; // the epoch and version of the snapshot that set it
  #timer = 0;
  #onTick;

  /** @param onTick is called several times a second while it runs, and when it has run down */
  constructor(onTick) {
    this.#onTick = onTick;
  }

  /** Set it to a snapshot's seconds; returns whether it runs. */
  follow({ game, epoch, version }) {
    const is = Boolean(game?.closes_in_s);
    const set = is ? `${epoch} ${version}` : "";
    const at = is ? performance.now() + game.closes_in_s * 1_000 : 0;
    if (set === this.#set) this.#closesAt = Math.min(this.#closesAt, at); // this one travelled faster
    else {
      this.#set = set;
      this.#closesAt = at;
      clearInterval(this.#timer);
      if (is) this.#timer = setInterval(() => this.#tick(), 200);
    }
    return is;
  }

  /** The whole seconds left, 0 if it does not run. */
  get seconds() {
    return Math.max(0, Math.ceil((this.#closesAt - performance.now()) / 1_000));
  }

  #tick() {
    if (this.seconds === 0) clearInterval(this.#timer);
    this.#onTick();
  }
}
