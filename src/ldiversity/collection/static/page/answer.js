/** The page to answer a survey: about it, the questions, what will be sent, and done. */
import { answer, browserStore, connect } from "../device/index.js";
import { conflicts, entryOf } from "../device/ledger.js";
import { byId, element, fillParagraphs, hideProblem, showProblem, showSection, whileBusy } from "./elements.js";
import { failure, inability } from "./failures.js";
import { buildForm, fieldFault, readForm } from "./form.js";
import { showPreview } from "./preview.js";

const pinned = new URLSearchParams(location.hash.slice(1));
const form = /** @type {HTMLFormElement} */ (byId("questions"));
const dialog = /** @type {HTMLDialogElement} */ (byId("erase"));

/** @type {import("../device/index.js").Survey} */
let survey;
/** @type {import("../device/index.js").Preview | null} */
let preview = null;
let agreed = false;
let status = 0;

/** The browser's fetch, which also notes how the server answered. @type {typeof fetch} */
const watched = async (input, init) => {
  status = 0;
  const answered = await fetch(input, init);
  status = answered.status;
  return answered;
};

/**
 * Runs a step; what goes wrong is said in one sentence.
 * @param {() => Promise<void>} step
 */
async function attempt(step) {
  hideProblem();
  try {
    await step();
  } catch (error) {
    const { sentence, again } = failure(error, status, survey !== undefined && survey.tokens !== "device");
    showProblem(sentence, again ? () => attempt(step) : null);
  }
}

async function begin() {
  const unable = await inability();
  if (unable !== "") return showProblem(unable);
  survey = await connect("", watched).survey({ fingerprint: pinned.get("k") ?? undefined });
  // From here on, all texts are those that the collector signed.
  document.title = survey.title;
  byId("about-title").textContent = survey.title;
  fillParagraphs(byId("purpose"), survey.purpose);
  fillParagraphs(byId("consent"), survey.consent);
  byId("survey-id").textContent = survey.id;
  byId("fingerprint").textContent = survey.fingerprint;
  byId("pinned").textContent = pinned.has("k")
    ? "The survey is signed with the key that the address of this page names."
    : "The survey is signed, but the address of this page names no key. Compare the key below with the one that the collector published.";
  if (survey.tokens === "blind") {
    byId("ask-lead").textContent = "Nothing of your answers is sent while you answer. The page shows what will be sent before you send it.";
  }
  await browserStore().secret();
  byId("waiting").hidden = true;
  byId("agreement").hidden = false;
  byId("device").hidden = false;
}

/** The questions that this device answered before, and what must be asked because of them. */
async function lookBack() {
  const asked = await Promise.all(survey.questions.map(entryOf));
  const known = await browserStore().entries();
  const again = asked.some((one) => known.some((entry) => entry.name === one.name && entry.context === one.context));
  return { again, warnings: conflicts(asked, known) };
}

/**
 * Goes on at once, or after the person agreed.
 * @param {readonly {sentence: string}[]} warnings
 * @param {() => void} next
 */
function askFirst(warnings, next) {
  if (agreed || warnings.length === 0) return next();
  byId("warnings-list").replaceChildren(...warnings.map(({ sentence }) => element("li", { textContent: sentence })));
  byId("proceed").onclick = () => {
    agreed = true;
    next();
  };
  showSection("warnings");
}

function ask() {
  buildForm(form, survey, sentences(), pinned.get("i") ?? "");
  showSection("ask");
}

/** What is sent for each question, as the server worded it. */
function sentences() {
  const words = /** @type {HTMLTemplateElement} */ (byId("sent")).content.querySelectorAll("[data-name]");
  return new Map([...words].map((one) => [one.getAttribute("data-name") ?? "", one.textContent ?? ""]));
}

async function prepare() {
  const { answers, invitation, faults } = readForm(form, survey);
  if (faults.length > 0) return;
  const { again } = await lookBack();
  preview = await answer(survey, answers, { fetch: watched, invitation });
  const { reports, warnings } = preview;
  askFirst(warnings, () => {
    byId("again").hidden = !again;
    showPreview(reports, survey.language, survey.tokens === "invitation");
    showSection("check");
  });
}

async function send() {
  if (preview === null) return;
  byId("status").textContent = "Sending.";
  try {
    await preview.send({ agreed });
  } finally {
    byId("status").textContent = "";
  }
  forgetAnswers();
  showSection("done");
}

/** Nothing of the answers stays on the page. */
function forgetAnswers() {
  preview = null;
  form.reset();
  form.replaceChildren();
  byId("preview").replaceChildren();
  byId("errors").hidden = true;
  byId("errors-list").replaceChildren();
}

function leave() {
  forgetAnswers();
  showSection("left");
}

async function erase() {
  dialog.close();
  await browserStore().forget();
  agreed = false;
  forgetAnswers();
  showSection("erased");
}

byId("agreement").addEventListener("submit", (event) => {
  event.preventDefault();
  const box = /** @type {HTMLInputElement} */ (byId("agree"));
  byId("agree-error").hidden = box.checked;
  fieldFault(box, !box.checked);
  if (!box.checked) return box.focus();
  attempt(async () => askFirst((await lookBack()).warnings, ask));
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const button = /** @type {HTMLElement} */ (form.querySelector("button[type=submit]"));
  whileBusy(button, () => attempt(prepare));
});
byId("send").addEventListener("click", () => whileBusy(byId("send"), () => attempt(send)));
byId("back").addEventListener("click", () => showSection("ask"));
byId("leave").addEventListener("click", leave);
byId("restart").addEventListener("click", () => attempt(async () => ask()));
for (const button of document.querySelectorAll(".forget")) button.addEventListener("click", () => dialog.showModal());
byId("keep").addEventListener("click", () => dialog.close());
byId("erase-now").addEventListener("click", () => attempt(erase));

// The address names the key, so it stays as it is; another address is another survey or another key.
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
addEventListener("hashchange", () => location.reload());

// A browser may keep a page that was left, to show it again at once: it must not keep the answers.
addEventListener("pagehide", forgetAnswers);
addEventListener("pageshow", (event) => {
  if (event.persisted && survey !== undefined) showSection("about");
});

attempt(begin);
