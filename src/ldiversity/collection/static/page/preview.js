/** What will be sent, for people to read, and as the exact bytes. */
import { byId, element } from "./elements.js";

/** @typedef {import("../device/index.js").Prepared} Prepared */

/**
 * @param {readonly Prepared[]} reports
 * @param {string} language
 * @param {boolean} invited Whether the invitation itself is in each report.
 */
export function showPreview(reports, language, invited) {
  byId("preview").replaceChildren(...reports.flatMap((report, at) => {
    const title = reports.length > 1 ? [element("h2", { textContent: `Report ${at + 1} of ${reports.length}` })] : [];
    const lines = report.lines.map((line) => element("div", {}, element("dt", { textContent: line.ask, lang: language }), described(line, language)));
    return [...title, element("dl", { className: "sent" }, ...lines), exactBytes(report.bytes)];
  }));
  const apart = "Nothing in them says that they belong together, but the time at which they arrive does.";
  const together = "Your invitation is in each of them, so the server can see that they belong together.";
  byId("reports").textContent = reports.length > 1 ? `The reports are sent one by one. ${invited ? together : apart}` : "";
}

/** @param {Prepared["lines"][number]} line @param {string} language @returns {HTMLElement} */
function described(line, language) {
  if (!line.hidden) return element("dd", { textContent: line.labels[0], lang: language });
  const members = line.labels.map((label) => element("li", { textContent: label, lang: language }));
  return element("dd", {}, element("span", { className: "one-of", textContent: "one of" }), element("ul", { className: "set", role: "list" }, ...members));
}

/** @param {Uint8Array} bytes @returns {HTMLElement} */
function exactBytes(bytes) {
  const text = new TextDecoder().decode(bytes);
  const note = element("p", { className: "note", textContent: "Blanks at the end make every report equally long." });
  return element("details", {}, element("summary", { textContent: `The exact ${bytes.length} bytes` }), element("pre", { textContent: text, tabIndex: 0 }), note);
}
