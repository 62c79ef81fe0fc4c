// @ts-check
// The end of a conversation: whoever is there stays there while it grows, whoever reads above is left alone and
// shown a way back.

/** So near counts as being there. */
const NEAR = 48;

export class End {
  /** @param {HTMLElement} room @param {HTMLElement} pill */
  constructor(room, pill) {
    this.room = room;
    this.pill = pill;
    this.isThere = true;
    room.addEventListener(
      "scroll",
      () => {
        this.isThere = room.scrollHeight - room.scrollTop - room.clientHeight < NEAR;
        if (this.isThere) pill.hidden = true;
      },
      { passive: true },
    );
    pill.addEventListener("click", () => this.stick());
  }

  /** Another conversation is shown, from its end. */
  forget() {
    this.isThere = true;
    this.pill.hidden = true;
  }

  /** Goes to the end, and stays there. */
  stick() {
    this.isThere = true;
    this.pill.hidden = true;
    this.room.scrollTop = this.room.scrollHeight;
  }

  /** Draws something that may make the conversation longer. @param {() => void} draw */
  keep(draw) {
    const before = this.room.scrollHeight;
    draw();
    const isLonger = this.room.scrollHeight > before + 1;
    if (this.isThere) this.room.scrollTop = this.room.scrollHeight;
    else if (isLonger && !this.room.hidden) this.pill.hidden = false;
  }
}
