import * as z from 'zod';
import { Plot } from '#contract/config/plot.ts';
import { Protection } from '#contract/config/protections.ts';
import { ORDER_TYPES } from '#contract/values/account-limits.ts';
import { MAX_INFORMATIVE_PAIRS } from '#contract/values/backtest-limits.ts';
import { CodedError } from '#contract/values/errors.ts';
import { PROTECTION_LIMITS } from '#contract/values/protection-limits.ts';
import { ALL_TIMEFRAMES } from '#contract/values/timeframes.ts';
import { defaultParameters } from '#engine/definitions/parameters.ts';
import { type DefinitionData, dataProblems } from '#engine/definitions/validate-definition.ts';
import { canonicalJson } from '#engine/digest.ts';
import { MAX_STARTUP_CANDLES, type Startup } from '#engine/startup.ts';
import { CALLBACK_NAMES } from '#engine/strategy.ts';
import { type DefinitionProcess, DefinitionProcessError, type ProcessPool } from './definition-process.ts';
import { MAX_ERROR } from './limits.ts';

type Parameters = Readonly<Record<string, number | string | boolean>>;

/** Results that one version of a file keeps. */
const MAX_KEPT = 1_000;
/** Maximum wait of a request for earlier ones. */
const MAX_WAIT_MS = 10_000;

/**
 * One version of a strategy file: its definition, and its startup candles by parameters. The process handles one request at a
 * time; a process that does not reply is replaced before the next request. Results are cached by parameters, because they
 * depend only on these.
 */
export class StrategySource {
  readonly #pool: ProcessPool;
  readonly #start: () => DefinitionProcess;
  readonly #kept = new Map<string, Promise<Startup>>();
  #last: Promise<unknown> = Promise.resolve();
  #requests = 0;
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
  startupCandles(params: Parameters): Promise<Startup> {
    const key = canonicalJson(params);
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const since = Date.now();
    const result = this.#last.then(() => {
      if (Date.now() - since <= MAX_WAIT_MS) return this.#request(params);
      throw this.#rejected(
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

  #keep(key: string, result: Promise<Startup>): void {
    this.#kept.set(key, result);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest!);
    // Errors are not cached: the machine may be busy only now.
    result.catch(() => this.#kept.get(key) === result && this.#kept.delete(key));
  }

  /** When an idle process has ended, the request is repeated with a fresh process. */
  async #request(params: Parameters): Promise<Startup> {
    try {
      return await this.#requestProcess(params);
    } catch (error) {
      if (error instanceof CodedError) throw error;
      if (!(error instanceof KeptProcessEnded)) throw this.#rejected(problemOf(error), params);
      return this.#request(params);
    }
  }

  #requestProcess(params: Parameters): Promise<Startup> {
    const { loadLimitMs, startupLimitMs } = this.#pool.limits;
    return this.#pool.use(this, this.#start, async (process, isFresh) => {
      const id = ++this.#requests;
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

  #rejected(problem: string, params: Parameters): CodedError {
    const shown = JSON.stringify(params).slice(0, 200);
    return new CodedError('VAL006', {
      message: `Strategy ${this.#name}: startupCandles() ${problem} for ${shown}. It must return an integer, or integers by timeframe, that it computes from the parameters only.`,
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

/*
 * Replies of a definition process. Strategy code may have written them, so every field is validated.
 */

const text = (max: number) => z.string().max(max);
const Choice = z.union([text(200), z.number(), z.boolean()]);
const description = text(2_000);

const Parameter = z.discriminatedUnion('kind', [
  z.object({
    kind: z.enum(['integer', 'number']),
    default: z.number(),
    min: z.number(),
    max: z.number(),
    description,
  }),
  z.object({ kind: z.literal('choice'), default: Choice, choices: z.array(Choice).max(1_000), description }),
]);

/** The type requires every field of a definition. */
const FIELDS = {
  name: text(64),
  description,
  timeframe: z.enum(ALL_TIMEFRAMES),
  timeframes: z.array(z.enum(ALL_TIMEFRAMES)).max(ALL_TIMEFRAMES.length).exactOptional(),
  pairs: z.array(text(50)).max(200),
  stakeAmount: z.number(),
  parameters: z.record(text(64), Parameter),
  informativeTimeframes: z.array(z.enum(ALL_TIMEFRAMES)).max(ALL_TIMEFRAMES.length).exactOptional(),
  informative: z
    .array(z.object({ pair: text(50), timeframe: z.enum(ALL_TIMEFRAMES) }))
    .max(MAX_INFORMATIVE_PAIRS)
    .exactOptional(),
  mlEngine: z.record(text(64), z.union([z.number(), z.boolean(), text(64), z.null()])).exactOptional(),
  canShort: z.boolean().exactOptional(),
  stoploss: z.number(),
  trailing: z
    .object({
      positive: z.number().exactOptional(),
      offset: z.number().exactOptional(),
      only_offset_is_reached: z.boolean().exactOptional(),
    })
    .exactOptional(),
  minimalRoi: z.record(text(9), z.number()).exactOptional(),
  protections: z.array(Protection).max(PROTECTION_LIMITS.count).exactOptional(),
  leverage: z.number().exactOptional(),
  useExitSignal: z.boolean().exactOptional(),
  exitProfitOnly: z.boolean().exactOptional(),
  exitProfitOffset: z.number().exactOptional(),
  ignoreRoiIfEntrySignal: z.boolean().exactOptional(),
  unfilledTimeoutMinutes: z.number().exactOptional(),
  unfilledTimeout: z
    .object({ entry: z.number().exactOptional(), exit: z.number().exactOptional() })
    .exactOptional(),
  orderTypes: z
    .object({ entry: z.enum(ORDER_TYPES).exactOptional(), exit: z.enum(ORDER_TYPES).exactOptional() })
    .exactOptional(),
  ignoreEntryAfterCandles: z.number().exactOptional(),
  maxAdjustments: z.number().exactOptional(),
  plot: Plot.exactOptional(),
  callbacks: z.array(z.enum(CALLBACK_NAMES)).max(CALLBACK_NAMES.length),
  ownFeatures: z.boolean(),
  ownLabel: z.boolean(),
} satisfies Record<keyof DefinitionData, z.ZodType>;

const Definition = z.object(FIELDS);

const Count = z.int().min(0).max(MAX_STARTUP_CANDLES);
const StartupReplied = z.union([
  Count,
  z.object({ own: Count, named: z.partialRecord(z.enum(ALL_TIMEFRAMES), Count) }),
]);
const Failure = z.object({ error: text(MAX_ERROR), line: z.int().positive().nullable() });
const Loaded = z.object({ definition: Definition, startup: StartupReplied });
const StartupReply = z.union([
  z.object({ id: z.int(), startup: StartupReplied }),
  z.object({ id: z.int(), error: text(MAX_ERROR) }),
]);

/** Result of loading a file: the definition and its startup candles for the default parameters, or the error. */
type LoadReply = { readonly definition: DefinitionData; readonly startup: Startup } | z.infer<typeof Failure>;

/** @throws Error that says what is wrong with the reply */
function parseLoadReply(line: string): LoadReply {
  const value: unknown = JSON.parse(line);
  const failure = Failure.safeParse(value);
  if (failure.success) return failure.data;
  const { definition, startup } = parse(Loaded, value);
  const data = definition as DefinitionData;
  const problems = dataProblems(data);
  if (problems.length > 0) throw new Error(problems.join('; '));
  return { definition: data, startup };
}

/** @throws Error that says what is wrong with the reply */
function parseStartupReply(line: string, id: number): { startup: Startup } | { error: string } {
  const reply = parse(StartupReply, JSON.parse(line));
  if (reply.id !== id) throw new Error('it replied to another request');
  return reply;
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue!.path.join('.')}: ${issue!.message}`.slice(0, MAX_ERROR));
}
