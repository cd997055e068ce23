/** The questions of a survey as a form, and what was answered in it. */
import { byId, element } from "./elements.js";

const MOST_RADIOS = 12;
const MOST_WITHOUT_FILTER = 40;
const INVITATION = "invitation";

/** @typedef {import("../device/index.js").Survey} Survey */
/** @typedef {Survey["quasi"][number] | Survey["questions"][number]} Asked */
/** @typedef {{ id: string, ask: string, sentence: string }} Fault A field, its question, and what it needs. */
/** @typedef {{ answers: Record<string, string | number>, invitation: string | undefined, faults: Fault[] }} Read */

/**
 * Fills the form with one field per question.
 * @param {HTMLFormElement} form
 * @param {Survey} survey
 * @param {Map<string, string>} sent What is sent for each question, in one sentence.
 * @param {string} invitation The code in the address of the page, if there is one.
 */
export function buildForm(form, survey, sent, invitation) {
  const asked = [...survey.quasi, ...survey.questions];
  const fields = asked.map((one, at) => buildField(one, `q${at}`, sent.get(one.name) ?? "", survey.language));
  if (survey.tokens !== "device") fields.unshift(invitationField(invitation));
  form.replaceChildren(...fields, element("button", { type: "submit", className: "main", textContent: "Show what will be sent" }));
}

/**
 * What was answered, and what is missing; the first goes to the device, the second is shown.
 * @param {HTMLFormElement} form
 * @param {Survey} survey
 * @returns {Read}
 */
export function readForm(form, survey) {
  /** @type {Read} */
  const read = { answers: {}, invitation: undefined, faults: [] };
  const note = (/** @type {string} */ id, /** @type {string} */ ask, /** @type {string} */ sentence) => {
    if (sentence !== "") read.faults.push({ id, ask, sentence });
    markField(id, sentence);
  };
  if (survey.tokens !== "device") {
    read.invitation = /** @type {HTMLInputElement} */ (byId(INVITATION)).value.trim();
    const isCode = /^[A-Za-z0-9_-]{22}$/.test(read.invitation);
    note(INVITATION, "Your invitation:", isCode ? "" : "Enter its 22 letters.");
  }
  [...survey.quasi, ...survey.questions].forEach((one, at) => {
    const given = one.kind === "ranges" ? readNumber(one, `q${at}`) : readChoice(form, one, `q${at}`);
    if (given !== null) read.answers[one.name] = given;
    const needed = one.kind === "ranges" ? `Enter a whole number${limits(one)}.` : "Choose one answer.";
    note(`q${at}`, one.ask, given === null ? needed : "");
  });
  showFaults(read.faults);
  return read;
}

/**
 * Tells assistive software whether a field has a fault.
 * @param {HTMLElement} box
 * @param {boolean} wrong
 */
export function fieldFault(box, wrong) {
  if (wrong) box.setAttribute("aria-invalid", "true");
  else box.removeAttribute("aria-invalid");
}

/**
 * Shows the summary of what is missing, with a link to each field, and moves the focus there.
 * @param {Fault[]} faults
 */
function showFaults(faults) {
  byId("errors-list").replaceChildren(...faults.map(({ id, ask, sentence }) => {
    const link = element("a", { href: `#${id}`, textContent: `${ask} ${sentence}` });
    // The address must not change: it would stay in the history.
    link.addEventListener("click", (event) => {
      event.preventDefault();
      byId(id).focus();
    });
    return element("li", {}, link);
  }));
  byId("errors").hidden = faults.length === 0;
  if (faults.length > 0) byId("errors").focus();
}

/** @param {string} id @param {string} sentence Empty if the field is right. */
function markField(id, sentence) {
  const place = byId(`${id}-error`);
  place.textContent = sentence;
  place.hidden = sentence === "";
  byId(`${id}-field`).classList.toggle("invalid", sentence !== "");
  if (!byId(id).matches("[type=radio]")) fieldFault(byId(id), sentence !== "");
}

/** @param {Extract<Asked, {kind: "ranges"}>} one @param {string} id @returns {number | null} */
function readNumber(one, id) {
  const typed = /** @type {HTMLInputElement} */ (byId(id)).value.trim().replace(/^\u2212/, "-");
  const number = Number(typed);
  const inside = (one.low === null || number >= one.low) && (one.high === null || number <= one.high);
  return /^-?\d{1,10}$/.test(typed) && inside ? number : null;
}

/** @param {{low: number | null, high: number | null}} range @returns {string} */
function limits({ low, high }) {
  if (low === null) return high === null ? "" : ` up to ${high}`;
  return high === null ? ` from ${low} up` : ` from ${low} to ${high}`;
}

/** @param {HTMLFormElement} form @param {{values: readonly string[]}} one @param {string} id @returns {string | null} */
function readChoice(form, one, id) {
  const code = /** @type {HTMLSelectElement | RadioNodeList} */ (form.elements.namedItem(id)).value;
  return code === "" ? null : one.values[Number(code)];
}

/** @param {Asked} one @param {string} id @param {string} sentence @param {string} language @returns {HTMLElement} */
function buildField(one, id, sentence, language) {
  const hint = element("p", { id: `${id}-hint`, className: "hint", textContent: sentence });
  const error = element("p", { id: `${id}-error`, className: "error", hidden: true });
  const described = `${id}-error ${id}-hint`;
  if (one.kind !== "ranges" && one.values.length <= MOST_RADIOS) {
    const legend = element("legend", { textContent: one.ask, lang: language });
    const options = one.values.map((value, code) => radio(id, value, code, language));
    return element("fieldset", { id: `${id}-field`, "aria-describedby": described }, legend, hint, error, ...options);
  }
  const label = element("label", { htmlFor: id, textContent: one.ask, lang: language });
  const box = one.kind === "ranges" ? numberBox(one, id, described) : choiceBox(one, id, described, language);
  return element("div", { id: `${id}-field`, className: "question" }, label, hint, error, box);
}

/** @param {string} code @returns {HTMLElement} */
function invitationField(code) {
  const label = element("label", { htmlFor: INVITATION, textContent: "Your invitation" });
  const hint = element("p", { id: "invitation-hint", className: "hint", textContent: "The 22 letters that the collector gave you. It counts once." });
  const error = element("p", { id: "invitation-error", className: "error", hidden: true });
  const box = element("input", { type: "text", id: INVITATION, value: code, autocomplete: "off", spellcheck: false, autocapitalize: "off", "aria-describedby": "invitation-error invitation-hint" });
  return element("div", { id: "invitation-field", className: "question" }, label, hint, error, box);
}

/** @param {string} id @param {string} value @param {number} code @param {string} language @returns {HTMLElement} */
function radio(id, value, code, language) {
  // The first one has the id of the question, so that the summary of errors can lead there.
  const input = element("input", { type: "radio", name: id, value: String(code), id: code === 0 ? id : `${id}-${code}`, autocomplete: "off" });
  return element("label", { className: "option" }, input, element("span", { textContent: value, lang: language }));
}

/** @param {{low: number | null}} one @param {string} id @param {string} described @returns {HTMLElement} */
function numberBox(one, id, described) {
  // A keypad of digits has no minus sign on some phones.
  const inputMode = one.low !== null && one.low >= 0 ? "numeric" : "text";
  return element("input", { type: "text", inputMode, id, className: "number", autocomplete: "off", spellcheck: false, maxLength: 11, "aria-describedby": described });
}

/** @param {{values: readonly string[]}} one @param {string} id @param {string} described @param {string} language */
function choiceBox(one, id, described, language) {
  const options = one.values.map((value, code) => element("option", { value: String(code), textContent: value }));
  const isLong = options.length > MOST_WITHOUT_FILTER;
  const list = element("select", { name: id, id, autocomplete: "off", lang: language, size: isLong ? 8 : undefined, "aria-describedby": described });
  if (!isLong) {
    list.append(element("option", { value: "", textContent: "Choose one answer" }), ...options);
    return list;
  }
  list.append(...options);
  const filter = /** @type {HTMLInputElement} */ (element("input", { type: "text", id: `${id}-filter`, autocomplete: "off", spellcheck: false }));
  const found = element("p", { className: "visually-hidden", role: "status" });
  filter.addEventListener("input", () => {
    const looked = filter.value.trim().toLowerCase();
    const kept = options.filter((one) => (one.textContent ?? "").toLowerCase().includes(looked));
    list.replaceChildren(...kept);
    found.textContent = kept.length === 1 ? "1 answer matches." : `${kept.length} answers match.`;
  });
  const label = element("label", { htmlFor: filter.id, className: "sub", textContent: "Find in the list" });
  return element("div", {}, label, filter, found, list);
}
