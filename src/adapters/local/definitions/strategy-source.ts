import { CodedError } from '#contract/errors.ts';
import { canonicalJson } from '#engine/digest.ts';
import { defaultParameters } from '#engine/strategies/parameters.ts';
import { type DefinitionProcess, DefinitionProcessError } from './definition-process.ts';
import type { ProcessPool } from './process-pool.ts';
import { type LoadReply, parseLoadReply, parseStartupReply } from './replies.ts';

type Parameters = Readonly<Record<string, number | string | boolean>>;

/** Answers that one version of a file keeps. */
const MAX_KEPT = 1_000;
/** Longest wait of a question for those before it. */
const MAX_WAIT_MS = 10_000;

/**
 * One version of a strategy file: its definition, and its startup candles by parameters. Its process is asked one question at
 * a time; a process that does not reply is replaced before the next request. Equal questions are asked once: the result is a function of the
 * parameters.
 */
export class StrategySource {
  readonly #pool: ProcessPool;
  readonly #start: () => DefinitionProcess;
  readonly #kept = new Map<string, Promise<number>>();
  #last: Promise<unknown> = Promise.resolve();
  #asked = 0;
  #name = '';

  /** @param start makes a process that loads the file */
  constructor(pool: ProcessPool, start: () => DefinitionProcess) {
    this.#pool = pool;
    this.#start = start;
  }

  /**
   * Definition of the file, or its error.
   *
   * @throws DefinitionProcessError, or another Error when the reply of the process is not valid
   */
  async load(): Promise<LoadReply> {
    const reply = await this.#pool.use(this, this.#start, async (process) => {
      try {
        const loaded = parseLoadReply(await process.exchange(null, this.#pool.limits.loadLimitMs));
        if ('error' in loaded) process.end();
        return loaded;
      } catch (error) {
        process.end();
        throw error;
      }
    });
    if ('definition' in reply) {
      const { name, parameters } = reply.definition;
      this.#name = name;
      this.#keep(canonicalJson(defaultParameters(parameters)), Promise.resolve(reply.startup));
    }
    return reply;
  }

  /** @throws CodedError VAL006, field `config.params` */
  startupCandles(params: Parameters): Promise<number> {
    const key = canonicalJson(params);
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const since = Date.now();
    const result = this.#last.then(() => {
      if (Date.now() - since <= MAX_WAIT_MS) return this.#askNow(params);
      throw this.#refused(
        `was not called within ${MAX_WAIT_MS / 1000} s: earlier calls took too long`,
        params,
      );
    });
    this.#last = result.catch(() => undefined);
    this.#keep(key, result);
    return result;
  }

  /** Ends its idle process. */
  close(): void {
    this.#pool.drop(this);
  }

  #keep(key: string, result: Promise<number>): void {
    this.#kept.set(key, result);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest!);
    // The next caller may have more luck: a machine may be busy.
    result.catch(() => this.#kept.get(key) === result && this.#kept.delete(key));
  }

  /** A kept process that has ended while it was idle is not the fault of this question: a fresh one is asked. */
  async #askNow(params: Parameters): Promise<number> {
    try {
      return await this.#askProcess(params);
    } catch (error) {
      if (error instanceof CodedError) throw error;
      if (!(error instanceof KeptProcessEnded)) throw this.#refused(problemOf(error), params);
      return this.#askNow(params);
    }
  }

  #askProcess(params: Parameters): Promise<number> {
    const { loadLimitMs, startupLimitMs } = this.#pool.limits;
    return this.#pool.use(this, this.#start, async (process, isFresh) => {
      const id = ++this.#asked;
      try {
        if (isFresh) checkLoaded(parseLoadReply(await process.exchange(null, loadLimitMs)));
        const line = await process.exchange(JSON.stringify({ id, params }), startupLimitMs);
        const reply = parseStartupReply(line, id);
        if ('startup' in reply) return reply.startup;
        throw new CodedError('VAL006', { message: reply.error, field: FIELD });
      } catch (error) {
        if (error instanceof CodedError) throw error;
        process.end();
        const timedOut = error instanceof DefinitionProcessError && error.kind === 'time';
        throw isFresh || timedOut ? error : new KeptProcessEnded();
      }
    });
  }

  #refused(problem: string, params: Parameters): CodedError {
    const shown = JSON.stringify(params).slice(0, 200);
    return new CodedError('VAL006', {
      message: `Strategy ${this.#name}: startupCandles() ${problem} for ${shown}. It must return an integer that it computes from the parameters only.`,
      field: FIELD,
    });
  }
}

const FIELD = 'config.params';

class KeptProcessEnded extends Error {}

function problemOf(error: unknown): string {
  if (!(error instanceof DefinitionProcessError)) return `failed (${(error as Error).message})`;
  return error.kind === 'time'
    ? error.message.replace('no reply', 'did not return')
    : `failed (${error.message})`;
}

function checkLoaded(reply: object): void {
  if ('error' in reply) throw new Error(`the file cannot be loaded any more: ${reply.error}`);
}
