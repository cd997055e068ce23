/** A token that the collector signs blindly; it is loaded only for surveys that want one. */
import { base64url, bytesToBig, fromBase64url, utf8 } from "./bytes.js";
import { blind, finalize, prepare, publicKey } from "./blind.js";
import { DeviceError } from "./errors.js";
import { bitLength } from "./whole.js";

const SALT_BYTES = 48;
const TOKEN_BYTES = 32;

/**
 * Everything random follows from the secret: after a crash the device asks for the same token again.
 *
 * @param {import("./survey.js").Survey} survey
 * @param {number} part
 * @param {import("./words.js").DeviceSecret} secret
 * @param {string} invitation
 * @param {import("./tokens.js").Issue} issue
 * @returns {Promise<import("./tokens.js").Token>}
 */
export async function blindToken(survey, part, secret, invitation, issue) {
  const where = utf8(`${survey.id}/${part}`);
  const key = publicKey(fromBase64url(survey.blind_key ?? "") ?? new Uint8Array(0), part);
  if (key === null) throw new DeviceError("survey", "blind_key must be an odd number of 2048 to 4096 bits, in base64url");
  const token = await secret.derive("device-blind-token", where, TOKEN_BYTES);
  const salt = await secret.derive("device-blind-salt", where, SALT_BYTES);
  // Sixteen more bytes than the modulus make the factor as good as uniform.
  const wide = await secret.derive("device-blind-factor", where, Math.ceil(bitLength(key.n) / 8) + 16);
  const prepared = prepare(where, token);
  const { blinded, inverse } = await blind(key, prepared, salt, (bytesToBig(wide) % (key.n - 1n)) + 1n);
  const answered = await issue({ survey: survey.id, part, invitation, blinded: base64url(blinded) });
  const signature = await finalize(key, prepared, fromBase64url(answered) ?? new Uint8Array(0), inverse);
  if (signature === null) throw new DeviceError("server", "must sign the token with the survey's key, but did not");
  return { token: base64url(token), signature: base64url(signature) };
}
