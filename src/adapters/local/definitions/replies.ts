import * as z from 'zod';
import { TIMEFRAMES } from '#contract/limits.ts';
import { MAX_STARTUP_CANDLES } from '#engine/run/history.ts';
import { CALLBACK_NAMES, type DefinitionData, dataProblems } from '#engine/strategies/validate-definition.ts';
import { MAX_ERROR } from './limits.ts';

/** Replies of a definition process. Code of a strategy may have written them: nothing in them is taken for granted. */

const text = (max: number) => z.string().max(max);
const Choice = z.union([text(200), z.number(), z.boolean()]);
const description = text(2_000);

const Parameter = z.discriminatedUnion('kind', [
  z.object({
    kind: z.enum(['integer', 'number']),
    ...{ default: z.number(), min: z.number(), max: z.number(), description },
  }),
  z.object({ kind: z.literal('choice'), default: Choice, choices: z.array(Choice).max(1_000), description }),
]);

/** Its type names every field of a definition: one that is added there must be added here. */
const FIELDS = {
  name: text(64),
  description,
  timeframe: z.enum(TIMEFRAMES),
  pairs: z.array(text(50)).max(200),
  stakeAmount: z.number(),
  parameters: z.record(text(64), Parameter),
  informativeTimeframes: z.array(z.enum(TIMEFRAMES)).max(TIMEFRAMES.length).exactOptional(),
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
  leverage: z.number().exactOptional(),
  useExitSignal: z.boolean().exactOptional(),
  exitProfitOnly: z.boolean().exactOptional(),
  exitProfitOffset: z.number().exactOptional(),
  ignoreRoiIfEntrySignal: z.boolean().exactOptional(),
  unfilledTimeoutMinutes: z.number().exactOptional(),
  callbacks: z.array(z.enum(CALLBACK_NAMES)).max(CALLBACK_NAMES.length),
  ownFeatures: z.boolean(),
  ownLabel: z.boolean(),
} satisfies Record<keyof DefinitionData, z.ZodType>;

const Definition = z.object(FIELDS);

const Startup = z.int().min(0).max(MAX_STARTUP_CANDLES);
const Failure = z.object({ error: text(MAX_ERROR), line: z.int().positive().nullable() });
const Loaded = z.object({ definition: Definition, startup: Startup });
const StartupReply = z.union([
  z.object({ id: z.int(), startup: Startup }),
  z.object({ id: z.int(), error: text(MAX_ERROR) }),
]);

/** What a process says of its file: the definition and its startup candles for the default parameters, or its error. */
export type LoadReply =
  | { readonly definition: DefinitionData; readonly startup: number }
  | z.infer<typeof Failure>;

/** @throws Error that says what is wrong with the reply */
export function parseLoadReply(line: string): LoadReply {
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
export function parseStartupReply(line: string, id: number): { startup: number } | { error: string } {
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
