/** Applies the shared list of good and hostile surveys; the same in Node and in a browser. */
import { utf8 } from "../../../src/ldiversity/collection/static/device/bytes.js";
import { DeviceError } from "../../../src/ldiversity/collection/static/device/errors.js";
import { checkSurvey } from "../../../src/ldiversity/collection/static/device/survey.js";

const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.create(null);
  for (const name of Object.keys(value).sort()) copy[name] = sorted(value[name]);
  return copy;
};

export function rawOf(bases, { base, put = [], replace = [], hex }) {
  if (hex !== undefined) return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const said = sorted(bases[base]);
  for (const [path, ...value] of put) {
    const place = path.slice(0, -1).reduce((inside, step) => inside[step], said);
    if (value.length === 0) delete place[path.at(-1)];
    else place[path.at(-1)] = value[0];
  }
  let text = JSON.stringify(sorted(said));
  for (const [old, new_] of replace) text = text.replace(old, () => (typeof new_ === "string" ? new_ : new_[0].repeat(new_[1])));
  return utf8(text);
}

/** Whether bytes are a survey; a refusal must be one sentence about the survey. */
export function accepts(raw) {
  try {
    checkSurvey(raw);
    return true;
  } catch (error) {
    if (error instanceof DeviceError && error.field === "survey" && /^survey: [^\n]+\.$/.test(error.message)) return false;
    throw error;
  }
}

/** The names of the cases that are decided otherwise than the list says. */
export const wrongly = ({ bases, cases }) => cases.filter((one) => accepts(rawOf(bases, one)) !== one.accept).map(({ name }) => name);
