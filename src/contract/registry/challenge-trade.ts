import * as z from 'zod';
import { given } from '../common/null-fields.ts';
import { BACKTEST_DEFAULTS } from '../values/backtest-limits.ts';
import { bounds } from '../values/bounds.ts';
import { TRADE_LIMITS as LIMITS, TRADE_MODES, TRADE_SIDES } from '../values/challenge-limits.ts';
import { MAX_SYMBOL_LENGTH } from '../values/market-data-limits.ts';
import { MAX_ASSIGNMENT_KEY_LENGTH } from '../values/registry-limits.ts';
import { TRADING_MODES } from '../values/trading-modes.ts';
import { CANARY_STAGE_NAMES, CHALLENGE_STATUSES, TRADE_STATUSES, VARIANTS } from './stored-challenge.ts';

const optionalNumber = z.number().optional();
const optionalText = (description: string, maxLength: number) =>
  z.string().optional().meta({ description, maxLength });

const amount = (description: string) => optionalNumber.meta({ description, ...bounds(LIMITS.amount) });

const tradeFields = {
  trade_id: z
    .string()
    .optional()
    .meta({ description: 'Unique ID: repeated trades count once', minLength: 1, maxLength: LIMITS.trade_id }),
  variant: z
    .string()
    .optional()
    .meta({ description: 'Required unless `version` is given', enum: [...VARIANTS] }),
  version: z
    .union([z.string(), z.int()])
    .optional()
    .meta({ description: 'One of the two versions of the challenge' }),
  profit_pct: optionalNumber.meta({
    description: `Profit after fees, percent of the stake, from ${LIMITS.profit_pct.min} times the leverage. Open trades: the unrealized profit, optional; it can be posted again`,
    maximum: LIMITS.profit_pct.max,
  }),
  profit_abs: amount('Profit after fees, quote currency'),
  stake_amount: amount('Quote currency'),
  fee_abs: amount('Fees, quote currency'),
  leverage: optionalNumber.meta({ description: 'Default: 1', ...bounds(LIMITS.leverage) }),
  pair: optionalText('`BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`', MAX_SYMBOL_LENGTH),
  trading_mode: z
    .string()
    .optional()
    .meta({
      description: 'Market of the pair; it is not stored',
      enum: [...TRADING_MODES],
      default: BACKTEST_DEFAULTS.trading_mode,
    }),
  side: z
    .string()
    .optional()
    .meta({ enum: [...TRADE_SIDES] }),
  opened_at: optionalText(
    'ISO 8601, up to 60 s ahead. A trade that was opened before the start of the challenge does not count',
    LIMITS.time,
  ),
  closed_at: optionalText(
    'ISO 8601, from the start of the challenge to 60 s ahead. Default: now',
    LIMITS.time,
  ),
  exit_reason: optionalText('Reason of the exit', LIMITS.exit_reason),
  exchange: optionalText('Exchange key', LIMITS.exchange),
  mode: z
    .string()
    .optional()
    .meta({ enum: [...TRADE_MODES] }),
  error_message: optionalText('Message of an error; only with status `error`', LIMITS.error_message),
  assignment_key: optionalText(
    'Key of the assignment: a trade of the other variant does not count',
    MAX_ASSIGNMENT_KEY_LENGTH,
  ),
  status: z
    .string()
    .optional()
    .meta({
      description:
        'Post the same `trade_id` as `closed` to close an open trade. `error`: the strategy failed to decide or to trade; it is not counted as a trade',
      enum: [...TRADE_STATUSES],
      default: 'closed',
    }),
};

/** Required fields by status. */
const COMPLETE_TRADE = [
  given({ trade_id: { type: 'string' }, profit_pct: { type: 'number' } }),
  given({ trade_id: { type: 'string' }, status: { enum: ['open', 'error'] } }),
];

const REQUIRED_FIELDS = 'Requires `trade_id`, and `profit_pct` unless `status` is `open` or `error`';

const Trade = z
  .looseObject(tradeFields)
  .meta({ anyOf: COMPLETE_TRADE, description: REQUIRED_FIELDS })
  .check(({ value, issues }) => {
    for (const path of missingFields(value)) {
      issues.push({
        code: 'invalid_type',
        expected: path === 'trade_id' ? 'string' : 'number',
        input: undefined,
        path: [path],
      });
    }
  });
export type TradeInput = z.infer<typeof Trade>;
export const TRADE_FIELDS = Object.keys(tradeFields);

function missingFields(trade: { trade_id?: unknown; profit_pct?: unknown; status?: unknown }): string[] {
  const hasProfit = trade.status !== 'open' && trade.status !== 'error';
  const required = hasProfit ? (['trade_id', 'profit_pct'] as const) : (['trade_id'] as const);
  return required.filter((name) => trade[name] === undefined);
}

/** One trade, or several under `trades`. */
export const TradesRequest = z
  .looseObject({ ...tradeFields, trades: z.array(Trade).optional().meta({ maxItems: LIMITS.trades }) })
  .check(({ value, issues }) => {
    if (value.trades !== undefined) return;
    for (const path of missingFields(value)) {
      issues.push({
        code: 'invalid_type',
        expected: path === 'trade_id' ? 'string' : 'number',
        input: undefined,
        path: [path],
      });
    }
  })
  .meta({
    id: 'ChallengeTradesRequest',
    anyOf: [...COMPLETE_TRADE, given({ trades: { type: 'array' } })],
    description: `One trade, or several under \`trades\`. ${REQUIRED_FIELDS}`,
    examples: [
      { trade_id: 'trade-1', variant: 'champion', profit_pct: 0.4 },
      { trades: [{ trade_id: 'trade-2', variant: 'challenger', profit_pct: 0.9 }] },
    ],
  });

const logged = {
  challenge_id: z.string(),
  trade_id: z.string(),
  variant: z.enum(VARIANTS),
  accepted: z.boolean().meta({ description: 'True when the trade is in the log' }),
  duplicate: z.boolean().meta({ description: 'True when it was logged before' }),
  canary_stage: z.enum(CANARY_STAGE_NAMES).meta({ description: 'Canary stage in which it is compared' }),
  trade_status: z.enum(TRADE_STATUSES),
  misassigned: z.boolean(),
  unassigned: z.boolean().meta({
    description: 'True when the challenge requires assignments, and the key had none: it does not count',
  }),
  late: z.boolean().meta({ description: 'True outside of the challenge: it does not count' }),
};
const LoggedTrade = z.object(logged);
export type LoggedTrade = z.infer<typeof LoggedTrade>;

/** Rejected trade of a batch. */
const RejectedTrade = z.object({
  trade_id: z.string(),
  accepted: z.literal(false),
  error: z.object({ code: z.string(), message: z.string(), field: z.string(), context: z.looseObject({}) }),
});
export type RejectedTrade = z.infer<typeof RejectedTrade>;

const challengeNow = z.object({
  status: z.enum(CHALLENGE_STATUSES).meta({ description: 'Status of the challenge after the request' }),
  champion_trades: z.int(),
  challenger_trades: z.int(),
  recommendation: z.string(),
});

const LoggedAlone = z.object({ ...logged, ...challengeNow.shape });
const LoggedTogether = z.object({
  challenge_id: z.string(),
  items: z.array(z.union([LoggedTrade, RejectedTrade])),
  ...challengeNow.shape,
});
export type TradesLogged = z.infer<typeof LoggedAlone> | z.infer<typeof LoggedTogether>;

const warnings = z.array(z.string()).meta({ description: 'Ignored keys of the body' });
export const TradesResponse = z.union([
  LoggedAlone.extend({ warnings }).meta({ id: 'LoggedTrade' }),
  LoggedTogether.extend({ warnings }).meta({ id: 'LoggedTrades' }),
]);
