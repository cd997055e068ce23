/** Answers a survey as several devices, each twice, and prints the reports that were shown, as JSON. */
import { answer, connect, DeviceSecret, memoryStore } from "../../../src/ldiversity/collection/static/device/index.js";

const { url, fingerprint, answers, devices } = JSON.parse(process.argv[2]);
const survey = await connect(url).survey({ fingerprint });
const shown = [];
for (const { secret, invitation } of devices) {
  const store = memoryStore(await DeviceSecret.from(new Uint8Array(Buffer.from(secret, "hex"))));
  const preview = await answer(survey, answers, { url, store, invitation });
  await preview.send();
  await preview.send();
  shown.push(preview.reports.map(({ bytes }) => new TextDecoder().decode(bytes)));
}
console.log(JSON.stringify(shown));
