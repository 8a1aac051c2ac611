import * as z from 'zod';
import { ERRORS } from './errors.ts';
import { COLLECT_MODES, PRECISIONS, TIMEFRAMES } from './limits.ts';

/** A schema's output as use cases take it. */
export type Immutable<T> = T extends readonly (infer E)[]
  ? readonly Immutable<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T;

/** Schemas that several resources share. */

export const Timestamp = z.string().meta({
  format: 'date-time',
  description: 'ISO 8601, UTC',
});

/** When candles are collected before a run. */
export const CollectMode = z.enum(COLLECT_MODES);
export type CollectMode = z.infer<typeof CollectMode>;

/** Fields of a request that say whose candles of what: the same in every request that has them. */
export const MARKET_FIELDS = {
  exchange: z.string().optional().meta({
    description: 'Whose candles; default the configured exchange',
    pattern: '^[a-z0-9]{1,40}$',
  }),
  pairs: z
    .array(z.string().meta({ pattern: '^[A-Z0-9]{1,20}/[A-Z0-9]{1,20}:[A-Z0-9]{1,20}$' }))
    .optional()
    .meta({
      description: '`BASE/QUOTE:SETTLE`; default the pairs of the strategy',
      minItems: 1,
      maxItems: 200,
      uniqueItems: true,
    }),
  timeframe: z
    .string()
    .optional()
    .meta({ description: 'Default the timeframe of the strategy', enum: [...TIMEFRAMES] }),
  collect: z
    .string()
    .optional()
    .meta({
      description:
        'Whether candles are collected before the run: `never` runs on what is stored and names what is missing, `if_stale` collects when stored candles do not cover the range, `always` asks the exchange in any case',
      enum: [...COLLECT_MODES],
      default: 'if_stale',
    }),
};

/** Fields of a request that say what a run trades with: the same in every request that has them. */
export const ACCOUNT_FIELDS = {
  stake_amount: z.union([z.number(), z.string()]).optional().meta({
    description:
      'Quote currency per trade, above 0 and not above the wallet, or `unlimited`: the balance divided by max_open_trades. Default the stake of the strategy',
  }),
  dry_run_wallet: z.number().optional().meta({
    description: 'Wallet at the start, quote currency',
    default: 1000,
    exclusiveMinimum: 0,
    maximum: 1e12,
  }),
  max_open_trades: z.int().optional().meta({
    description: 'Trades open at once; default the number of pairs',
    minimum: 1,
    maximum: 1000,
  }),
  fee: z.number().optional().meta({
    description: 'Ratio per side',
    default: 0.0005,
    minimum: 0,
    maximum: 0.1,
  }),
  slippage: z.number().optional().meta({
    description: 'Adverse move of every market fill, ratio of the price',
    default: 0,
    minimum: 0,
    maximum: 0.1,
  }),
  leverage: z.number().optional().meta({
    description: 'Default the leverage of the strategy',
    minimum: 1,
    maximum: 125,
  }),
  precision: z
    .string()
    .optional()
    .meta({
      description:
        '`exchange`: prices and amounts follow the steps and limits of the instruments, and orders below the minimum are not placed; `none`: nothing is rounded and no order is too small. Default `exchange` if the instruments of all pairs are stored, otherwise `none`. Exchange `sim` has none, so that it always runs with `none`',
      enum: [...PRECISIONS],
    }),
};

export const Health = z
  .object({
    status: z.string().meta({ description: '`healthy`, or `degraded` while a dependency is not healthy' }),
    service: z.string(),
    version: z.string().meta({ description: "The service's own version" }),
    dependencies: z
      .record(z.string(), z.string())
      .meta({ description: 'Status of each dependency by name, such as `healthy` or `unavailable`' }),
    reason: z.string().optional().meta({ description: 'Why it is degraded; absent while it is healthy' }),
  })
  .meta({ id: 'Health' });

/** The list envelope: `items`, and `next_cursor` until the end. */
export function paginated<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'Opaque; send it as `cursor` with the same filters. null ends the iteration' }),
  });
}

/** First error body shape: the request's body does not fit its schema. */
export const RequestValidationError = z
  .object({
    detail: z.array(
      z.object({
        type: z.string().meta({ description: 'For example `missing`, `string_type`, `json_invalid`' }),
        loc: z
          .array(z.union([z.string(), z.int()]))
          .meta({ description: 'Where in the request, starting with `body`' }),
        msg: z.string(),
        input: z.unknown().meta({ description: 'The value at fault; null when it is missing or large' }),
      }),
    ),
  })
  .meta({
    id: 'RequestValidationError',
    description: 'The body lacks a required field or has a value of the wrong JSON type.',
    examples: [
      {
        detail: [
          { type: 'missing', loc: ['body', 'config', 'strategy'], msg: 'Field required', input: null },
        ],
      },
    ],
  });
export type RequestValidationError = z.infer<typeof RequestValidationError>;

/** Second error body shape: everything else, with a code of the catalogue. */
export const ErrorBody = z
  .object({
    detail: z.object({
      code: z.string().meta({ description: Object.keys(ERRORS).join(', ') }),
      message: z.string(),
      field: z.string().meta({ description: 'Dotted path of the field at fault; empty when there is none' }),
      context: z.looseObject({}).meta({ description: 'Values that explain the error' }),
    }),
  })
  .meta({ id: 'Error', description: 'An error with a code.' });
export type ErrorBody = z.infer<typeof ErrorBody>;
