/** The token that a report spends: the device's own, an invitation, or one that the collector signed blindly. */
import { base64url } from "./bytes.js";
import { DeviceError } from "./errors.js";

/** @typedef {import("./survey.js").Survey} Survey */
/** @typedef {import("./words.js").DeviceSecret} DeviceSecret */
/** @typedef {{token: string, signature: string | null}} Token */
/** @typedef {(asked: {survey: string, part: number, invitation: string, blinded: string}) => Promise<string>} Issue */

const INVITATION = /^[A-Za-z0-9_-]{22}$/;

/**
 * @param {Survey} survey
 * @param {number} part
 * @param {DeviceSecret} secret
 * @param {string | null} invitation The code of the person's invitation, if the survey wants one.
 * @param {Issue} issue Asks the collector to sign a blinded token, for an invitation.
 * @returns {Promise<Token>} The same again for the same survey, so that a retry spends nothing else.
 */
export async function tokenFor(survey, part, secret, invitation, issue) {
  if (survey.tokens === "device") return { token: base64url(await secret.token(survey.id, part)), signature: null };
  if (invitation === null || !INVITATION.test(invitation)) {
    throw new DeviceError("invitation", "must be the 22 letters of the invitation to this survey");
  }
  if (survey.tokens === "invitation") return { token: invitation, signature: null };
  const { blindToken } = await import("./blindtoken.js");
  return blindToken(survey, part, secret, invitation, issue);
}
