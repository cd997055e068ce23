/** The one error that this module raises on purpose: a field, a rule that it broke, and never what was given. */
export class DeviceError extends Error {
  /**
   * @param {string} field What the rule is about: "survey", "answers", "storage" or "server".
   * @param {string} rule The broken rule, which goes on after the field.
   */
  constructor(field, rule) {
    super(`${field}: ${rule}.`);
    this.name = "DeviceError";
    this.field = field;
  }
}
