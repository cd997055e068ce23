/** Reports: what a device sends, byte for byte, and how people read it. */
import { utf8 } from "./bytes.js";
import { DeviceError } from "./errors.js";

/** @typedef {import("./survey.js").Survey} Survey */
/** @typedef {import("./survey.js").Question} Question */
/**
 * @typedef {object} Line One line of what is sent, for people.
 * @property {string} name
 * @property {string} ask
 * @property {string[]} labels One label for what is sent as it is; all members of a set.
 * @property {boolean} hidden Whether the labels are a set that hides the answer.
 */
/**
 * @typedef {object} Codes The answers as places in the survey's lists; they stay on the device.
 * @property {Map<string, number>} quasi
 * @property {Map<string, number>} questions
 */

/**
 * Find the place of every answer: numbers are coarsened to their ranges here, and are not kept.
 *
 * @param {Survey} survey
 * @param {Readonly<Record<string, string | number>>} answers One per quasi and question, by name.
 * @returns {Codes}
 */
export function codesOf(survey, answers) {
  const names = [...survey.quasi, ...survey.questions].map((part) => part.name);
  if (!Object.keys(answers).every((name) => names.includes(name))) {
    throw new DeviceError("answers", "must be about what the survey asks, and nothing else");
  }
  for (const name of names) {
    if (!Object.hasOwn(answers, name)) throw new DeviceError("answers", `${name} must be given`);
  }
  return {
    quasi: new Map(survey.quasi.map((part) => [part.name, quasiCode(part, answers[part.name])])),
    questions: new Map(survey.questions.map((one) => [one.name, place(one, answers[one.name])])),
  };
}

/** @param {Survey["quasi"][number]} part @param {unknown} given @returns {number} */
function quasiCode(part, given) {
  if (part.kind === "choice") return place(part, given);
  if (typeof given !== "number" || !Number.isSafeInteger(given)) {
    throw new DeviceError("answers", `${part.name} must be a whole number`);
  }
  if ((part.low !== null && given < part.low) || (part.high !== null && given > part.high)) {
    throw new DeviceError("answers", `${part.name} must be in one of the survey's ranges`);
  }
  return part.cuts.filter((cut) => cut <= given).length;
}

/** @param {{name: string, values: readonly string[]}} part @param {unknown} given @returns {number} */
function place(part, given) {
  const code = part.values.indexOf(/** @type {string} */ (given));
  if (code < 0) throw new DeviceError("answers", `${part.name} must be one of the survey's values`);
  return code;
}

/**
 * The bytes of a report: JSON without blanks, then blanks up to the survey's one length.
 *
 * @param {Pick<Survey, "quasi" | "questions" | "reportBytes">} survey
 * @param {string} surveyId
 * @param {string} token
 * @param {ReadonlyMap<string, number>} quasi
 * @param {ReadonlyMap<string, readonly number[]>} sets
 * @param {string | null} [signature]
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function writeReport(survey, surveyId, token, quasi, sets, signature = null) {
  const field = (/** @type {string} */ name, /** @type {unknown} */ value) => `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  const asked = survey.questions.filter((one) => sets.has(one.name));
  const fields = [
    field("survey", surveyId),
    field("token", token),
    `"quasi":{${survey.quasi.map((part) => field(part.name, quasi.get(part.name))).join(",")}}`,
    `"sets":{${asked.map((one) => field(one.name, sets.get(one.name))).join(",")}}`,
    ...(signature === null ? [] : [field("signature", signature)]),
  ];
  const text = utf8(`{${fields.join(",")}}`);
  if (text.length > survey.reportBytes) throw new DeviceError("survey", "must leave room for its reports");
  const bytes = new Uint8Array(survey.reportBytes).fill(0x20);
  bytes.set(text);
  return bytes;
}

/**
 * @param {Survey} survey
 * @param {readonly Question[]} part
 * @param {ReadonlyMap<string, number>} quasi
 * @param {ReadonlyMap<string, readonly number[]>} sets
 * @returns {Line[]} What a report says, for people.
 */
export function readable(survey, part, quasi, sets) {
  return [
    ...survey.quasi.map(({ name, ask, labels }) => {
      return { name, ask, labels: [labels[/** @type {number} */ (quasi.get(name))]], hidden: false };
    }),
    ...part.map(({ name, ask, values }) => {
      return { name, ask, labels: (sets.get(name) ?? []).map((code) => values[code]), hidden: true };
    }),
  ];
}
