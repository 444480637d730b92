// An answer that is being written, formatted as the server will format it once it is whole: no jump at the end.

const LIBRARY = "./markdown-it.min.mjs";
const SAFE = /^(https?:\/\/|mailto:)\S/i; // as the server's: nothing else becomes a link
const DEPTH = 60;

let parser = null; // once the library is there
let coming = null;

/** HTML of a text that may end anywhere; null until the library is there, or where it fails to come. */
export function formatted(text) {
  if (!parser) {
    coming ??= import(LIBRARY).then((read) => (parser = made(read.default)), () => (coming = null));
    return null;
  }
  return parser.render(text);
}

function made(MarkdownIt) {
  const one = new MarkdownIt("commonmark", { html: false, breaks: true, maxNesting: DEPTH });
  one.enable(["table", "strikethrough"]).disable(["html_block", "html_inline", "reference"]);
  one.validateLink = (url) => SAFE.test(url);
  const { rules } = one.renderer;
  const block = (text, info) => `<pre${info ? ` data-info="${one.utils.escapeHtml(info)}"` : ""}><code>${one.utils.escapeHtml(text)}</code></pre>\n`;
  rules.fence = (tokens, at) => block(tokens[at].content, tokens[at].info.trim());
  rules.code_block = (tokens, at) => block(tokens[at].content, "");
  rules.link_open = () => '<span class="link-to-be">'; // it can be followed once all of it is written
  rules.link_close = () => "</span>";
  rules.image = (tokens, at) => `<span class="link-to-be">${one.utils.escapeHtml(tokens[at].content)}</span>`; // nothing is loaded from elsewhere
  rules.td_open = rules.th_open = (tokens, at) => `<${tokens[at].tag}${aligned(tokens[at])}>`;
  return one;
}

/** A column's side as a class: the page takes no style from a text. */
function aligned(token) {
  const side = /text-align:(left|center|right)/.exec(token.attrGet("style") ?? "");
  return side ? ` class="${side[1]}"` : "";
}
