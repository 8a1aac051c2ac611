import { setTimeout as sleep } from 'node:timers/promises';
import { Callers } from './callers.ts';
import { type FuzzOperation, operationAt, type ServiceDocument } from './document.ts';
import { isLarge, type Sources } from './generate.ts';
import { KINDS, kindsFor } from './kinds.ts';
import { type Exchange, Oracle } from './oracle.ts';
import { Pool } from './pool.ts';
import {
  type Draft,
  examplesOf,
  type FuzzRequest,
  type Place,
  validDraft,
  wantedNames,
  writeRequest,
} from './request.ts';
import { SeededRandom } from './seeded-random.ts';
import { curlCommand, type Received, Sender } from './send.ts';
import type { Target } from './target.ts';

export interface Breach {
  readonly operation: string;
  readonly kind: string;
  /** Index of the request in the campaign. */
  readonly index: number;
  readonly problems: readonly string[];
  readonly curl: string;
  /** Shortened response. */
  readonly response: string;
}

/** Number of responses of one operation by status. */
export type Counts = Map<number, number>;

export interface CampaignOptions {
  readonly seed: number;
  readonly requests: number;
  /** Only operations with this id. */
  readonly operation?: string | undefined;
  readonly onProgress?: (done: number, breaches: number) => void;
}

export interface CampaignResult {
  readonly requests: number;
  readonly breaches: readonly Breach[];
  /** By operation id, of every operation of the three services. */
  readonly counts: ReadonlyMap<string, Counts>;
}

/** When an operation creates cancellable work, its first results are left to run, since some fail, and every n-th. */
const LEFT_AT_FIRST = 3;
const LEFT_TO_RUN = 6;
/** Concurrent copies of a request. */
const AT_ONCE = 4;
/** Work that has not ended after this time hangs: a busy machine needs minutes. */
const SETTLE_LIMIT_MS = 15 * 60_000;
/** Attempts per round until an operation has succeeded once. */
const ATTEMPTS = 8;
/** Attempts for operations that create something, because others depend on them. */
const CREATING_ATTEMPTS = 24;
const ROUNDS = 3;

/** Sends seeded requests to every operation of a platform and checks every response against the documents. */
export class Campaign {
  readonly #target: Target;
  readonly #options: CampaignOptions;
  readonly #all: readonly FuzzOperation[];
  /** Operations to fuzz. */
  readonly #operations: readonly FuzzOperation[];
  readonly #pool = new Pool();
  readonly #oracle = new Oracle();
  readonly #sender = new Sender();
  readonly #callers: Callers;
  readonly #breaches: Breach[] = [];
  readonly #counts = new Map<string, Counts>();
  readonly #started = Date.now();
  #sent = 0;
  /** By operation. */
  readonly #created = new Map<string, number>();

  constructor(target: Target, options: CampaignOptions) {
    this.#target = target;
    this.#callers = new Callers(target.tokens);
    this.#options = options;
    this.#all = target.services.flatMap(({ operations }) => operations);
    this.#operations = this.#all.filter(
      ({ id }) => options.operation === undefined || id === options.operation,
    );
    if (this.#operations.length === 0) throw new Error(`No operation has the id ${options.operation}`);
    for (const { id } of this.#all) this.#counts.set(id, new Map());
  }

  async run(): Promise<CampaignResult> {
    try {
      await this.#prepare();
      const { requests, seed, onProgress } = this.#options;
      while (this.#sent < requests) {
        const random = SeededRandom.of(seed, this.#sent);
        const operation = random.pick(this.#operations);
        await this.#fuzz(operation, random.pick(kindsFor(operation, this.#target.enforced)), random);
        onProgress?.(this.#sent, this.#breaches.length);
      }
    } finally {
      this.#sender.close();
    }
    return { requests: this.#sent, breaches: this.#breaches, counts: this.#counts };
  }

  /** Prepares data: one success of as many operations as possible, and the results of the documents' examples. */
  async #prepare(): Promise<void> {
    const reading = this.#all.filter(({ method }) => method === 'GET');
    const changing = this.#all.filter(({ method }) => method !== 'GET');
    for (const operation of reading) await this.#valid(operation);
    for (const operation of changing.filter(({ path }) => !path.includes('{')))
      await this.#succeed(operation);
    for (const operation of changing) await this.#examples(operation);
    await this.#settle();
    const [first = [], then = []] = [true, false].map((creates) => {
      return changing.filter((operation) => isCreating(operation) === creates);
    });
    for (let round = 0; round < ROUNDS; round++) {
      for (const operation of [...first, ...then]) await this.#succeed(operation);
      // What a request reaches depends on what has ended before it, and may not depend on the machine.
      await this.#settle();
      // Makes the results of a change known, so that later requests can use them.
      for (const operation of reading) await this.#valid(operation);
    }
    for (const operation of reading) await this.#succeed(operation);
  }

  #valid(operation: FuzzOperation): Promise<void> {
    return this.#fuzz(operation, 'valid', SeededRandom.of(this.#options.seed, this.#sent));
  }

  /** Runs creating operations twice, so that requests can use two items of one owner. */
  async #succeed(operation: FuzzOperation): Promise<void> {
    const attempts = isCreating(operation) ? CREATING_ATTEMPTS : ATTEMPTS;
    for (let attempt = 0; attempt < attempts && !this.#hasSucceeded(operation); attempt++) {
      const random = SeededRandom.of(this.#options.seed, this.#sent);
      const place = { operation, sources: this.#sources(operation, random) };
      const draft = validDraft(place);
      const caller = this.#callers.choose(operation, 'valid', random);
      const status = await this.#exchange(place, draft, 'valid', random, caller);
      // Without headers: an `Idempotency-Key` would replay the first response.
      if (status === 201) await this.#exchange(place, { ...draft, headers: {} }, 'twice', random, caller);
    }
  }

  async #examples(operation: FuzzOperation): Promise<void> {
    for (const body of examplesOf(operation)) {
      this.#pool.learn(body, {});
      const random = SeededRandom.of(this.#options.seed, this.#sent);
      const place = { operation, sources: this.#sources(operation, random) };
      await this.#exchange(place, { ...validDraft(place), body }, 'example', random);
    }
  }

  #hasSucceeded({ id }: FuzzOperation): boolean {
    return [...this.#counts.get(id)!.keys()].some((status) => status < 300);
  }

  /** Waits until the work left to run has ended. Throws after {@link SETTLE_LIMIT_MS}. */
  async #settle(): Promise<void> {
    const busy = /"status":"(pending|running)"/;
    const lists = this.#all.filter(({ method, path, parameters }) => {
      return method === 'GET' && !path.includes('{') && parameters.some(({ name }) => name === 'cursor');
    });
    for (let waited = 0; waited < SETTLE_LIMIT_MS; waited += 250) {
      const pages = await Promise.all(lists.map((operation) => this.#sender.send(this.#plain(operation))));
      for (const page of pages) this.#learn(page, {});
      if (!pages.some(({ body }) => busy.test(body.toString('utf8')))) return;
      await sleep(250);
    }
    throw new Error(`Work has not ended within ${SETTLE_LIMIT_MS / 60_000} minutes`);
  }

  #plain(operation: FuzzOperation): FuzzRequest {
    const draft: Draft = {
      method: 'GET',
      variables: {},
      query: [],
      headers: this.#callers.adminHeaders(),
      body: undefined,
    };
    return writeRequest({ operation, sources: this.#sources(operation, new SeededRandom(0)) }, draft);
  }

  #sources({ service, ...operation }: FuzzOperation, random: SeededRandom): Sources {
    const { needed, others } = wantedNames({ ...operation, service });
    const focus = this.#pool.focus(random, needed, others);
    return { random, focus, document: service, now: this.#started };
  }

  async #fuzz(operation: FuzzOperation, kind: string, random: SeededRandom): Promise<void> {
    const place = { operation, sources: this.#sources(operation, random) };
    const draft = validDraft(place);
    KINDS[kind]!.change(draft, place);
    const times = kind === 'at once' ? AT_ONCE : 1;
    const sent = Array.from({ length: times }, () =>
      this.#exchange(place, { ...draft, headers: { ...draft.headers } }, kind, random),
    );
    await Promise.all(sent);
  }

  /** Resolves to the status of the response, undefined without a response. */
  async #exchange(
    place: Place,
    draft: Draft,
    kind: string,
    random: SeededRandom,
    caller = this.#callers.choose(place.operation, kind, random),
  ): Promise<number | undefined> {
    const { operation } = place;
    if (caller.authorization) draft.headers.Authorization = caller.authorization;
    if (ends(operation) && kind !== 'tame') this.#spare(draft);
    const request = writeRequest(place, draft);
    const index = this.#sent++;
    const report = (problems: readonly string[], response: string) => {
      if (problems.length === 0) return;
      const curl = curlCommand(request, this.#target.publicBase(operation.service), caller.again);
      this.#breaches.push({ operation: operation.id, kind, index, problems, curl, response });
    };
    let received: Received;
    try {
      received = await this.#sender.send(request);
    } catch (error) {
      report([`no response: ${(error as Error).message}`], '');
      return undefined;
    }
    const counts = this.#counts.get(operation.id)!;
    counts.set(received.status, (counts.get(received.status) ?? 0) + 1);
    const exchange = {
      ...this.#expected(operation, request, kind),
      ...caller,
      service: operation.service,
      request,
      received,
    };
    report(
      this.#oracle.problems(exchange),
      `${received.status} ${received.body.toString('utf8').slice(0, 300)}`,
    );
    this.#learn(received, draft.variables);
    if (received.status < 300 && request.method === 'POST')
      await this.#tame(operation, received, kind, random);
    return received.status;
  }

  /** One completed item of each kind stays, and before it all: reads of results need it. An end of it names one that does not exist. */
  #spare(draft: Draft): void {
    for (const [name, value] of Object.entries(draft.variables)) {
      const kept = this.#pool.firstCompleted(name, value);
      if (kept !== undefined && kept !== value) continue;
      const other = `${value}0`;
      draft.variables[name] = other;
      if (draft.rawPath) draft.rawPath = draft.rawPath.replaceAll(value, other);
    }
  }

  #learn({ status, body, headers }: Received, variables: Readonly<Record<string, string>>): void {
    if (status >= 300 || body.length > 200_000) return;
    if (!String(headers['content-type']).startsWith('application/json')) return;
    this.#pool.learn(JSON.parse(body.toString('utf8') || 'null'), variables);
  }

  /** Allowed responses: those of the operation, or of the operations that an odd path or method may address. */
  #expected(
    operation: FuzzOperation,
    request: FuzzRequest,
    kind: string,
  ): Pick<Exchange, 'operations' | 'odd'> {
    if (kind !== 'path' && kind !== 'method') return { operations: [operation], odd: kind === 'headers' };
    const { pathname } = new URL(request.path, request.base);
    const addressed = operationAt(operation.service, request.method, pathname);
    const own = kind === 'path' ? [operation] : [];
    return { operations: [...own, ...(addressed ? [addressed] : [])], odd: true };
  }

  #isLeft(operation: FuzzOperation, kind: string): boolean {
    // Examples have realistic sizes: too many trials and days for a fuzzing run.
    if (kind === 'example' && isLarge(operation)) return false;
    const before = this.#created.get(operation.id) ?? 0;
    this.#created.set(operation.id, before + 1);
    return before < LEFT_AT_FIRST || before % LEFT_TO_RUN === 0;
  }

  /** Cancels most of the created work where possible, to bound the load. */
  async #tame(
    operation: FuzzOperation,
    received: Received,
    kind: string,
    random: SeededRandom,
  ): Promise<void> {
    const cancel = cancelOf(operation.service, operation.path);
    if (!cancel) return;
    const [variable] = cancel.path.match(/(?<=\{)\w+(?=\}\/cancel$)/)!;
    const id = (JSON.parse(received.body.toString('utf8')) as Record<string, unknown>)[variable!];
    if (typeof id !== 'string' || this.#isLeft(operation, kind)) return;
    const place = { operation: cancel, sources: this.#sources(cancel, random) };
    const draft = validDraft(place);
    draft.variables[variable!] = id;
    Object.assign(draft.headers, this.#callers.adminHeaders());
    await this.#exchange(place, draft, 'tame', random);
  }
}

/** True for a deletion or a cancellation. */
function ends({ method, path }: FuzzOperation): boolean {
  return method === 'DELETE' || path.endsWith('/cancel');
}

function isCreating({ responses }: FuzzOperation): boolean {
  return '201' in responses;
}

function cancelOf({ operations }: ServiceDocument, collection: string): FuzzOperation | undefined {
  return operations.find(({ method, path }) => {
    return (
      method === 'POST' &&
      path.startsWith(`${collection}/{`) &&
      /^\/\{\w+\}\/cancel$/.test(path.slice(collection.length))
    );
  });
}
