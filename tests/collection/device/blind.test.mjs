import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { blind, exponent, finalize, inverseOf, power, prepare, publicKey, verifies } from "../../../src/ldiversity/collection/static/device/blind.js";
import { bigToBytes, hex } from "../../../src/ldiversity/collection/static/device/bytes.js";

const { vectors } = JSON.parse(readFileSync(new URL("../../data/collection/rfc9474.json", import.meta.url), "utf8"));
const bytesOf = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const big = (digits) => BigInt(`0x${digits}`);

for (const vector of vectors) {
  test(`RFC 9474: ${vector.name}`, async () => {
    const key = { n: big(vector.n), e: big(vector.e) };
    const length = vector.sig.length / 2;
    const salt = bytesOf(vector.salt);
    const message = bytesOf(vector.msg);
    const prepared = vector.msg_prefix === "" ? message : prepare(message, bytesOf(vector.msg_prefix));
    assert.equal(hex(prepared), vector.input_msg);

    const { blinded, inverse } = await blind(key, prepared, salt, inverseOf(big(vector.inv), key.n));
    assert.equal(inverse, big(vector.inv));
    assert.equal(hex(blinded), vector.blinded_msg);

    const signed = bigToBytes(power(big(hex(blinded)), big(vector.d), key.n), length);
    assert.equal(hex(signed), vector.blind_sig);
    const signature = await finalize(key, prepared, signed, inverse, salt.length);
    assert.equal(hex(signature), vector.sig);

    signed[length - 1] ^= 1;
    assert.equal(await finalize(key, prepared, signed, inverse, salt.length), null);
    assert.equal(await finalize(key, prepared, signed.slice(1), inverse, salt.length), null);
    assert.equal(await finalize(key, prepared, bigToBytes(key.n, length), inverse, salt.length), null);
    for (const at of [0, 100, length - 1]) {
      const wrong = Uint8Array.from(signature);
      wrong[at] ^= 1;
      assert.equal(await verifies(key, prepared, wrong, salt.length), false);
    }
    assert.equal(await verifies(key, prepare(prepared), signature, salt.length), false);
    assert.equal(await verifies(key, prepared, signature, salt.length === 0 ? 48 : 0), false);
  });
}

test("two blindings of a message have nothing in common", async () => {
  const key = { n: big(vectors[0].n), e: 65537n };
  const [message, salt] = [prepare(new Uint8Array(3)), new Uint8Array(48)];
  const [one, other] = [await blind(key, message, salt, 12345n), await blind(key, message, salt, 54321n)];
  assert.notEqual(hex(one.blinded), hex(other.blinded));
  await assert.rejects(blind(key, message, salt, big(vectors[0].p)), RangeError);
});

test("a key is odd and long, and each part has an exponent of its own", () => {
  assert.equal(publicKey(bytesOf(vectors[0].n.replace(/^0+/, "")), 1).e, 65539n);
  assert.equal(publicKey(bigToBytes(2n ** 2048n, 257)), null);
  assert.equal(publicKey(bigToBytes(2n ** 2047n - 1n, 256)), null);
  assert.deepEqual([0, 1, 2, 3].map(exponent), [65537, 65539, 65543, 65551]);
});
