// @ts-check
// The end of a conversation: a reader at the end stays there while it grows, a reader above is not moved and
// shown a way back.

/** So near counts as being there. */
const NEAR = 48;

export class End {
  /** @param {HTMLElement} pane @param {HTMLElement} pill */
  constructor(pane, pill) {
    this.pane = pane;
    this.pill = pill;
    this.isThere = true;
    pane.addEventListener(
      "scroll",
      () => {
        this.isThere = pane.scrollHeight - pane.scrollTop - pane.clientHeight < NEAR;
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
    this.pane.scrollTop = this.pane.scrollHeight;
  }

  /** Draws something that may make the conversation longer. @param {() => void} draw */
  keep(draw) {
    const before = this.pane.scrollHeight;
    draw();
    const isLonger = this.pane.scrollHeight > before + 1;
    if (this.isThere) this.pane.scrollTop = this.pane.scrollHeight;
    else if (isLonger && !this.pane.hidden) this.pill.hidden = false;
  }
}
