// @ts-check
// Images and documents that came with a message: an image as a small picture that can be opened, anything else as a chip that saves it.
//
// Their bytes are asked for like everything else, with what only our own page knows, so that they have no address of their own. Nothing
// is ever shown but an image of a kind that holds no script.

import { ask, wordsOf } from "./api.js";
import { button, closing, dialog, make, set, show, title } from "./dom.js";
import { note } from "./notes.js";
import { size, visible } from "./words.js";

/** @typedef {import("./picture.js").Attached} Attached */

const IMAGES = new Set(["image/png", "image/jpeg", "image/webp"]);

/** What was read, by id. @type {Map<string, Promise<string>>} */
const read = new Map();

/** @param {Attached[]} files */
export function attached(files) {
  return set(make("ul", "attached", ...files.map((file) => make("li", "", one(file)))), {
    role: "list",
    "aria-label": "Attached files",
  });
}

/** @param {Attached} file */
function one(file) {
  const name = visible(file.name);
  if (!IMAGES.has(file.media))
    return set(make("span", "", button(`${name} · ${size(file.bytes)}`, "chip small", () => void keep(file))), {});
  const picture = /** @type {HTMLImageElement} */ (set(make("img", "thumb"), { alt: name }));
  const node = set(
    button("", "thumb-place", () => void open(file)),
    { title: `${name} · ${size(file.bytes)}`, "aria-label": `Open the image ${name}` },
  );
  node.append(picture);
  address(file).then(
    (found) => (picture.src = found),
    // Without its bytes it is a name.
    () => node.replaceChildren(`${name} (not kept here)`),
  );
  return node;
}

/** The image in its own size. @param {Attached} file */
async function open(file) {
  const pane = dialog("picture");
  try {
    const picture = set(make("img", "whole-picture"), { src: await address(file), alt: visible(file.name) });
    pane.replaceChildren(title(pane, visible(file.name)), picture, closing(pane, button("Save", "", () => void keep(file))));
    show(pane);
  } catch (error) {
    note(wordsOf(error));
  }
}

/** Saves a file under the name that it had. @param {Attached} file */
async function keep(file) {
  try {
    save(await (await ask(path(file))).blob(), file.name);
  } catch (error) {
    note(wordsOf(error));
  }
}

/** An address that holds the bytes of an image. @param {Attached} file @returns {Promise<string>} */
function address(file) {
  const known = read.get(file.id) ?? begin();
  read.set(file.id, known);
  return known;

  async function begin() {
    try {
      const bytes = await (await ask(path(file))).blob();
      // The log says what it is; what is shown goes by what the server found.
      if (!IMAGES.has(bytes.type)) throw new Error(`${file.name} is no image.`);
      return await asAddress(bytes);
    } catch (error) {
      read.delete(file.id);
      throw error;
    }
  }
}

/** @param {Attached} file */
const path = (file) => `/api/v1/files/${encodeURIComponent(file.id)}`;

/** @param {Blob} bytes @returns {Promise<string>} */
const asAddress = (bytes) =>
  new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(bytes);
  });

/** Lets the browser save bytes. @param {Blob} bytes @param {string} name */
export function save(bytes, name) {
  const link = /** @type {HTMLAnchorElement} */ (make("a", ""));
  link.href = URL.createObjectURL(bytes);
  link.download = name;
  link.click();
  // The browser reads it after this.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
