// @ts-check
// Files that go with the next message: chosen, dropped or pasted; shown as chips until they are sent or taken away again. What may be
// sent is decided by the server; here only what could never be sent is refused at once.

import { button, make, set } from "./dom.js";
import { note } from "./notes.js";
import { size, visible } from "./words.js";

/** @typedef {{ name: string, data: string }} Sent A file as it is sent: its bytes in base64. */
/** @typedef {{ name: string, bytes: number, address: string }} Chosen A file that was read; the address holds its bytes. */

/** As the server has it (`MAX_FILES`, `MAX_FILE_BYTES`). */
const MOST = 10;
const MOST_BYTES = 24 * 1024 * 1024;
/** An image up to this size is shown on its chip. */
const MOST_SHOWN = 4 * 1024 * 1024;
/** What is sure to be shown as a picture and as nothing else. */
const IMAGE = /^data:image\/(png|jpeg|gif|webp);base64,/;

export class Files {
  /** @type {readonly Chosen[]} */
  all = [];

  /** @param {HTMLElement} list Where chips are. @param {{ changed: () => void }} on */
  constructor(list, on) {
    this.list = list;
    this.on = on;
  }

  /** Reads files and adds them. @param {Iterable<File>} files */
  async add(files) {
    for (const file of files) {
      if (this.all.length >= MOST) return note(`A message takes at most ${MOST} files.`);
      const held = this.all.reduce((sum, one) => sum + one.bytes, 0);
      if (held + file.size > MOST_BYTES)
        return note(`${file.name} is too large: a message takes at most ${size(MOST_BYTES)} of files.`);
      try {
        const address = await read(file);
        this.put([...this.all, { name: file.name || "pasted", bytes: file.size, address }]);
      } catch {
        note(`${file.name} cannot be read. Is it a folder?`);
      }
    }
  }

  /** Shows these and no others. @param {readonly Chosen[]} all */
  put(all) {
    this.all = all;
    this.#draw();
    this.on.changed();
  }

  #draw() {
    this.list.hidden = this.all.length === 0;
    const chips = this.all.map((one) => {
      const name = visible(one.name);
      const away = set(
        button("✕", "chip-away", () => {
          this.put(this.all.filter((other) => other !== one));
          document.getElementById("chat-input")?.focus();
        }),
        { "aria-label": `Remove ${name}`, title: `Remove ${name}` },
      );
      const isShown = one.bytes <= MOST_SHOWN && IMAGE.test(one.address);
      const picture = isShown ? [set(make("img", "chip-picture"), { src: one.address, alt: "" })] : [];
      return make("li", "chip", ...picture, make("span", "chip-name", name), make("span", "note", size(one.bytes)), away);
    });
    this.list.replaceChildren(...chips);
  }
}

/** Files as they are sent. @param {readonly Chosen[]} chosen @returns {Sent[]} */
export const sentFiles = (chosen) =>
  chosen.map(({ name, address }) => ({ name, data: address.slice(address.indexOf(",") + 1) }));

/**
 * Takes files that are dropped on a place, and those that are pasted into a field.
 * @param {HTMLElement} place
 * @param {HTMLElement} field
 * @param {Files} files
 */
export function take(place, field, files) {
  const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
  let depth = 0;
  const mark = (/** @type {number} */ by) => {
    depth = Math.max(0, depth + by);
    place.classList.toggle("is-dropping", depth > 0);
  };
  place.addEventListener("dragenter", (event) => hasFiles(event) && mark(1));
  place.addEventListener("dragleave", (event) => hasFiles(event) && mark(-1));
  place.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  place.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    // The browser would open the file in the place of the page.
    event.preventDefault();
    mark(-depth);
    void files.add([...(event.dataTransfer?.files ?? [])]);
    field.focus();
  });
  field.addEventListener("paste", (event) => {
    const pasted = [...(event.clipboardData?.files ?? [])];
    if (!pasted.length) return;
    event.preventDefault();
    void files.add(pasted);
  });
}

/** A file's bytes, as an address that holds them. @param {File} file @returns {Promise<string>} */
function read(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => {
      const address = String(reader.result);
      // Nothing in it has no comma.
      done(address.includes(",") ? address : "data:,");
    };
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(file);
  });
}
