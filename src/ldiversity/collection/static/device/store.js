/** Where a device keeps its secret and its ledger: in the browser's database, or in memory. */
import { DeviceError } from "./errors.js";
import { DeviceSecret } from "./words.js";

/** @typedef {import("./ledger.js").Entry} Entry */
/**
 * @typedef {object} Store
 * @property {() => Promise<DeviceSecret>} secret The device's secret, made once.
 * @property {() => Promise<Entry[]>} entries The questions that the device answered.
 * @property {(entries: readonly Entry[]) => Promise<void>} record Add questions to the ledger.
 * @property {() => Promise<void>} forget Delete everything; the next secret is another one.
 */

const DATABASE = "ldiversity-device";
const SECRET = "secret";
const LEDGER = "ledger";
const THE_ONE = "device";

/**
 * The browser's storage. The secret is a key that no script can read out, and two tabs get the same one.
 *
 * @param {IDBFactory} [factory]
 * @returns {Store}
 */
export function browserStore(factory = globalThis.indexedDB) {
  if (factory === undefined) throw new DeviceError("storage", "must be given where there is no browser database");
  return {
    async secret() {
      // A transaction cannot wait for a new key, so it is made first, and dropped if there is one already.
      const fresh = await DeviceSecret.fresh();
      const key = await within(factory, "readwrite", [SECRET], async ([secrets]) => {
        const known = await done(secrets.get(THE_ONE));
        if (known === undefined) await done(secrets.add(fresh.key, THE_ONE));
        return known ?? fresh.key;
      });
      return new DeviceSecret(key);
    },
    entries: () => within(factory, "readonly", [LEDGER], ([ledger]) => done(ledger.getAll())),
    record: (entries) =>
      within(factory, "readwrite", [LEDGER], async ([ledger]) => {
        for (const entry of entries) await done(ledger.put(entry));
      }),
    forget: () =>
      within(factory, "readwrite", [SECRET, LEDGER], async (stores) => {
        for (const store of stores) await done(store.clear());
      }),
  };
}

/**
 * A store that is gone with the program, for tests and for devices that keep their secret elsewhere.
 *
 * @param {DeviceSecret | null} [given]
 * @returns {Store}
 */
export function memoryStore(given = null) {
  /** @type {Promise<DeviceSecret> | null} */
  let secret = given === null ? null : Promise.resolve(given);
  /** @type {Map<string, Entry>} */
  const ledger = new Map();
  return {
    secret: () => (secret ??= DeviceSecret.fresh()),
    entries: async () => [...ledger.values()],
    record: async (entries) => entries.forEach((entry) => ledger.set(`${entry.name}/${entry.context}`, entry)),
    forget: async () => {
      secret = null;
      ledger.clear();
    },
  };
}

/**
 * @template T
 * @param {IDBFactory} factory
 * @param {IDBTransactionMode} mode
 * @param {string[]} names
 * @param {(stores: IDBObjectStore[]) => Promise<T>} work Everything in it is done, or nothing.
 * @returns {Promise<T>}
 */
async function within(factory, mode, names, work) {
  let database;
  try {
    const opening = factory.open(DATABASE, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore(SECRET);
      opening.result.createObjectStore(LEDGER, { keyPath: ["name", "context"] });
    };
    database = await done(opening);
    const transaction = database.transaction(names, mode, { durability: "strict" });
    const completed = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    const [found] = await Promise.all([work(names.map((name) => transaction.objectStore(name))), completed]);
    return found;
  } catch {
    throw new DeviceError("storage", "must be allowed for this page: without it the device cannot keep its secret");
  } finally {
    database?.close();
  }
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
