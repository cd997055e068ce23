/** Small helpers for the page: no text ever becomes markup. */

/**
 * @param {string} id
 * @returns {HTMLElement}
 */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * A new element; properties that are undefined are left out, and names with a dash are attributes.
 * @param {string} tag
 * @param {Record<string, unknown>} [properties]
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name.includes("-")) made.setAttribute(name, String(value));
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

/**
 * Puts the paragraphs of a text into an element; empty lines separate them.
 * @param {HTMLElement} place
 * @param {string} text
 */
export function fillParagraphs(place, text) {
  place.replaceChildren(...text.split("\n\n").map((one) => element("p", { textContent: one })));
}

const SECTIONS = ["about", "warnings", "ask", "check", "done", "left", "erased"];
const STEPS = { about: 0, warnings: 0, ask: 1, check: 2, done: 3, left: 0, erased: 0 };

/**
 * Shows one section, and moves the focus to its heading, so that a screen reader begins there.
 * @param {keyof STEPS} name
 */
export function showSection(name) {
  hideProblem();
  for (const one of SECTIONS) byId(one).hidden = one !== name;
  [...byId("steps").children].forEach((step, at) => {
    step.classList.toggle("past", at < STEPS[name]);
    if (at === STEPS[name]) step.setAttribute("aria-current", "step");
    else step.removeAttribute("aria-current");
  });
  scrollTo(0, 0);
  byId(`${name}-title`).focus({ preventScroll: true });
}

/**
 * Says in one sentence what did not work, and offers to try again where that can help.
 * @param {string} sentence
 * @param {(() => void) | null} [retry]
 */
export function showProblem(sentence, retry = null) {
  const button = /** @type {HTMLButtonElement} */ (byId("retry"));
  byId("problem-text").textContent = sentence;
  byId("waiting").hidden = true;
  button.hidden = retry === null;
  button.onclick = retry;
  byId("problem").hidden = false;
  byId("problem").focus();
}

export function hideProblem() {
  byId("problem").hidden = true;
}

/**
 * Keeps a button from being used twice while something runs; it stays in the tab order, so that the focus is not lost.
 * @param {HTMLElement} button
 * @param {() => Promise<void>} run
 */
export async function whileBusy(button, run) {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  try {
    await run();
  } finally {
    button.removeAttribute("aria-disabled");
  }
}
