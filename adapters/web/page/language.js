// The reader's language. English stands in the sources; the texts of another one come from the server, once and before
// anything is shown. The server has chosen it: by what somebody chose here, else by what their browser accepts.

export const language = document.documentElement.lang;
export const languages = { en: "English", de: "Deutsch" };

/** For dates and numbers: as the browser writes them where that is the same language. */
export const locale = navigator.languages?.find((one) => one.split("-")[0] === language) ?? language;

const texts = language === "en" ? {} : await loaded();
const plural = new Intl.PluralRules(locale);

async function loaded() {
  try {
    const answer = await fetch(new URL(`words.${language}.json`, import.meta.url));
    return answer.ok ? await answer.json() : {};
  } catch {
    return {}; // in English it can still be used
  }
}

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

/** A text with values in the places that it names in braces. It is a literal, so that it is found and translated. */
export const t = (text, values = {}) => filled(texts[text] ?? text, values);

/** One of two texts, as the language counts; `{number}` in them is the number. */
export function many(one, more, number, values = {}) {
  const [single, several] = texts[one] ?? [one, more];
  return filled(plural.select(number) === "one" ? single : several, { number: count(number), ...values });
}

export const count = (number) => number.toLocaleString(locale);

/** Kept where the server reads it with the next page. */
export function choose(chosen) {
  document.cookie = `signalbox_language=${chosen}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;
  location.reload();
}
