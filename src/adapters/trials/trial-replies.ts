import * as z from 'zod';
import { LookAhead, MAX_LOOK_AHEAD_FINDINGS } from '#contract/config/look-ahead.ts';
import { TrialFigures } from '#contract/hyperopt/hyperopt.ts';
import { ERRORS, type ErrorCode } from '#contract/values/errors.ts';
import type { TrialOutcome } from '#domain/hyperopt/run-trial.ts';
import type { Failure } from '#domain/shared/final-failure.ts';

/** Replies of a trial process. Strategy code may have sent them, so every field is validated. */

const text = (max: number) => z.string().max(max);
const CODES = Object.keys(ERRORS) as ErrorCode[];
/** Error message. The trial process shortens it further before it sends it. */
const Message = text(4_000);
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
    figures: TrialFigures.optional(),
    violation: z.number().min(0).optional(),
  }),
  z.object({ state: z.literal('pruned'), windows: Windows }),
  z.object({ state: z.literal('failed'), error: Message }),
]);

const Reply = z.union([
  z.object({ codeDigest: text(200), dataDigest: text(200), warnings: z.array(text(20_000)).max(100) }),
  z.object({ failure: z.object({ code: z.enum(CODES), message: text(100_000) }) }),
  z.object({ outcome: Outcome, spent: z.boolean() }),
  z.object({
    lookAhead: LookAhead.extend({
      message: Message,
      pairs: z.array(text(100)).max(1_000),
      findings: z.array(Message).max(MAX_LOOK_AHEAD_FINDINGS),
    }),
  }),
]);

/** First reply of a trial process: it is ready to run trials. */
export interface Ready {
  /** Digest of the strategy and the engine. */
  readonly codeDigest: string;
  /** Digest of the candles. */
  readonly dataDigest: string;
  /** Warnings for the job; see {@link TrialRunner}. */
  readonly warnings: readonly string[];
}

export type TrialReply =
  | Ready
  | { readonly failure: Failure }
  /** `spent`: the strategy left state in the process that may affect later trials. */
  | { readonly outcome: TrialOutcome; readonly spent: boolean }
  | { readonly lookAhead: LookAhead };

const SecretReply = z.object({ secret: text(100), reply: Reply });

/**
 * Undefined when the message is not a valid reply.
 *
 * @param secret of the message to which it replies
 */
export function parseTrialReply(message: unknown, secret: string): TrialReply | undefined {
  const { data } = SecretReply.safeParse(message);
  return data?.secret === secret ? data.reply : undefined;
}
