/** Something about the person of which a range is sent. */
export interface Ranges {
  readonly kind: "ranges";
  readonly name: string;
  readonly ask: string;
  readonly low: number | null;
  readonly cuts: readonly number[];
  readonly high: number | null;
  readonly labels: readonly string[];
}

/** Something about the person that is sent as it is chosen. */
export interface Choice {
  readonly kind: "choice";
  readonly name: string;
  readonly ask: string;
  readonly values: readonly string[];
  readonly labels: readonly string[];
}

/** A question whose answer is hidden in a set of `l` values before it leaves the device. */
export interface Question {
  readonly kind: "question";
  readonly name: string;
  readonly ask: string;
  readonly values: readonly string[];
  readonly ordered: boolean;
  readonly positions: readonly number[] | null;
  readonly l: number;
  readonly draw: {
    readonly kind: "partition" | "chain" | "listed";
    /** Whether another answer draws a set of its own, which may overlap with the first. */
    readonly keyedByAnswer: boolean;
    /** Of partitions: above zero, two sets of a device may overlap. */
    readonly leftOver?: number;
  };
}

/** A survey whose signature and mechanisms were checked. */
export interface Survey {
  readonly id: string;
  readonly fingerprint: string;
  readonly title: string;
  readonly collector: string;
  readonly contact: string;
  readonly purpose: string;
  readonly consent: string;
  readonly language: string;
  readonly closes: string | null;
  readonly linked: boolean;
  readonly tokens: "device" | "invitation" | "blind";
  readonly results: { readonly public: boolean; readonly minimum: number; readonly step: number; readonly goal: number };
  readonly quasi: readonly (Ranges | Choice)[];
  readonly questions: readonly Question[];
  readonly parts: readonly (readonly Question[])[];
  readonly reportBytes: number;
}

/** One line of what is sent, for people. */
export interface Line {
  readonly name: string;
  readonly ask: string;
  readonly labels: string[];
  readonly hidden: boolean;
}

/** A question that may ask for a fact that the device answered before. */
export interface Warning {
  readonly question: string;
  readonly other: string;
  readonly reason: "form" | "values";
  readonly sentence: string;
}

export interface Preview {
  readonly survey: Survey;
  readonly reports: readonly { readonly lines: Line[]; readonly bytes: Uint8Array }[];
  readonly warnings: readonly Warning[];
  /** Sends the reports, and resolves when all are stored. With warnings, the person must have agreed. */
  send(agreed?: { agreed?: boolean }): Promise<void>;
}

/** A question that the device answered; never the answer. */
export interface Entry {
  name: string;
  context: string;
  values: string[];
}

/** Where a device keeps its secret and its ledger. */
export interface Store {
  secret(): Promise<DeviceSecret>;
  entries(): Promise<Entry[]>;
  record(entries: readonly Entry[]): Promise<void>;
  forget(): Promise<void>;
}

export interface Options {
  store?: Store;
  url?: string;
  invitation?: string;
  fingerprint?: string;
  fetch?: typeof fetch;
}

export interface Server {
  survey(expected?: { fingerprint?: string }): Promise<Survey>;
  report(bytes: Uint8Array): Promise<void>;
}

/** A field, the rule that it broke, and never what was given. */
export class DeviceError extends Error {
  readonly field: string;
}

/** The secret of a device; no script can read it out. */
export class DeviceSecret {
  constructor(key: CryptoKey);
  readonly key: CryptoKey;
  static fresh(): Promise<DeviceSecret>;
  static from(bytes: Uint8Array): Promise<DeviceSecret>;
}

/** Verify a signed survey, and check everything that it claims. */
export function readSurvey(signed: string | Uint8Array | object, expected?: { fingerprint?: string }): Promise<Survey>;

/** The collector's server; that of the page unless an address is given. */
export function connect(url?: string, send?: typeof fetch): Server;

/** Hide the answers and show what will be sent. Nothing about the answers leaves the device before `send`. */
export function answer(
  survey: Survey | string | Uint8Array | object,
  answers: Readonly<Record<string, string | number>>,
  options?: Options,
): Promise<Preview>;

/** The browser's database. Two tabs get the same secret. */
export function browserStore(factory?: IDBFactory): Store;

/** A store that is gone with the program. */
export function memoryStore(given?: DeviceSecret | null): Store;
