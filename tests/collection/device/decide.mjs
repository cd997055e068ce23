/** Prints which of the surveys in a file are accepted: a list of texts in base64, as JSON. */
import { readFileSync } from "node:fs";
import { accepts } from "./cases.mjs";

const surveys = JSON.parse(readFileSync(process.argv[2], "utf8"));
console.log(JSON.stringify(surveys.map((text) => accepts(new Uint8Array(Buffer.from(text, "base64"))))));
