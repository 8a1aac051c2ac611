import * as z from 'zod';
import { ERRORS, type ErrorCode } from '#contract/errors.ts';
import type { TrialOutcome } from '#domain/hyperopt/run-trial.ts';
import type { Failure } from '#domain/run-backtest-job.ts';

/** Answers of a process of trials. Code of a strategy may have sent them: nothing in them is taken for granted. */

const text = (max: number) => z.string().max(max);
const CODES = Object.keys(ERRORS) as ErrorCode[];
/** Of an error, which is cut to less before it is sent. */
const Words = text(4_000);
const Windows = z.array(z.number().nullable()).max(10_000);

const Returns = z.object({
  firstDay: z.iso.date(),
  returns: z.instanceof(Float64Array).refine(({ length }) => length <= 40_000, 'too many days'),
});

const Outcome = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('complete'),
    value: z.number(),
    windows: Windows,
    efficiency: z.number().nullable(),
    returns: Returns.nullable(),
  }),
  z.object({ state: z.literal('pruned'), windows: Windows }),
  z.object({ state: z.literal('failed'), error: Words }),
]);

const Reply = z.union([
  z.object({ codeDigest: text(200), warnings: z.array(text(20_000)).max(100) }),
  z.object({ failure: z.object({ code: z.enum(CODES), message: text(100_000) }) }),
  z.object({ outcome: Outcome, spent: z.boolean() }),
]);

/** A process that can run trials. */
export interface Ready {
  /** Of the strategy and the engine that it runs. */
  readonly codeDigest: string;
  /** For the job; see {@link TrialRunner}. */
  readonly warnings: readonly string[];
}

/** What a process of trials answers. */
export type TrialReply =
  | Ready
  | { readonly failure: Failure }
  /** `spent`: code of the strategy has left something behind that may touch later trials. */
  | { readonly outcome: TrialOutcome; readonly spent: boolean };

/** Undefined for anything that no process of trials answers. */
export function parseTrialReply(message: unknown): TrialReply | undefined {
  return Reply.safeParse(message).data;
}
