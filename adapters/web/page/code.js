// Colours in blocks of code, by highlight.js, which is read when the first block with a language comes.

const LIBRARY = "./highlight.min.js";
const MOST = 50_000; // characters; a longer block stays plain, so that a phone keeps up

let library = null; // once it is there
let coming = null; // while it is not

/** Colour the `code` in `block`, by the language that stands after its fence. Its text stays the same. */
export function colour(block) {
  const language = block.dataset.info?.split(/\s/)[0];
  if (!language || block.textContent.length > MOST) return;
  if (library) return paint(block, language);
  coming ??= import(LIBRARY).then((read) => (library = read.default), () => (coming = null)); // offline: the next block tries again
  coming.then(() => library && paint(block, language));
}

function paint(block, language) {
  const code = block.querySelector("code");
  if (!code || !library.getLanguage(language)) return;
  code.innerHTML = library.highlight(code.textContent, { language, ignoreIllegals: true }).value; // which it escapes
}
