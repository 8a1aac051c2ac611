import * as z from 'zod';
import { given } from './null-fields.ts';
import { CANARY_STAGE_NAMES, CHALLENGE_STATUSES, TRADE_STATUSES, VARIANTS } from './stored-challenge.ts';

/** Most trades of one request. */
export const MAX_TRADES = 100;

const optionalNumber = z.number().optional();
const optionalText = (description: string, maxLength: number) =>
  z.string().optional().meta({ description, maxLength });

const tradeFields = {
  trade_id: z
    .string()
    .optional()
    .meta({ description: 'The same id counts once', minLength: 1, maxLength: 128 }),
  variant: z
    .string()
    .optional()
    .meta({ description: 'Or `version`: VAL004 without both', enum: [...VARIANTS] }),
  version: z.union([z.string(), z.int()]).optional().meta({ description: 'One of the two of the challenge' }),
  profit_pct: optionalNumber.meta({
    description:
      'Net of fees, percent of the stake; of an open trade its unrealised result, which may be left out and posted anew',
  }),
  profit_abs: optionalNumber,
  stake_amount: optionalNumber,
  fee_abs: optionalNumber,
  leverage: optionalNumber.meta({ description: 'Default 1' }),
  pair: optionalText('`BASE/QUOTE:SETTLE`', 50),
  side: z
    .string()
    .optional()
    .meta({ enum: ['long', 'short'] }),
  opened_at: optionalText('ISO 8601', 40),
  closed_at: optionalText('ISO 8601; default now', 40),
  exit_reason: optionalText('Why it was closed', 200),
  exchange: optionalText('Key of an exchange', 40),
  mode: z
    .string()
    .optional()
    .meta({ enum: ['live', 'paper'] }),
  error_message: optionalText('Of an error, which has no profit', 500),
  assignment_key: optionalText('As it was assigned: a trade of the other arm does not count', 256),
  status: z
    .string()
    .optional()
    .meta({
      description:
        'An open trade is closed by the same `trade_id`. An error is no trade: the strategy failed to decide or to trade',
      enum: [...TRADE_STATUSES],
      default: 'closed',
    }),
};

/** What a trade needs beyond the types of its fields. */
const COMPLETE_TRADE = [
  given({ trade_id: { type: 'string' }, profit_pct: { type: 'number' } }),
  given({ trade_id: { type: 'string' }, status: { enum: ['open', 'error'] } }),
];

const Trade = z
  .looseObject(tradeFields)
  .meta({ anyOf: COMPLETE_TRADE })
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
  .looseObject({ ...tradeFields, trades: z.array(Trade).optional().meta({ maxItems: MAX_TRADES }) })
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
    examples: [
      { trade_id: 'trade-1', variant: 'champion', profit_pct: 0.4 },
      { trades: [{ trade_id: 'trade-2', variant: 'challenger', profit_pct: 0.9 }] },
    ],
  });

const logged = {
  challenge_id: z.string(),
  trade_id: z.string(),
  variant: z.enum(VARIANTS),
  accepted: z.boolean().meta({ description: 'It is in the log' }),
  duplicate: z.boolean().meta({ description: 'It was there already' }),
  canary_stage: z.enum(CANARY_STAGE_NAMES).meta({ description: 'In which it is compared' }),
  trade_status: z.enum(TRADE_STATUSES),
  misassigned: z.boolean(),
  late: z.boolean(),
};
const LoggedTrade = z.object(logged);
export type LoggedTrade = z.infer<typeof LoggedTrade>;

/** Why one trade of a batch was not logged. */
const RefusedTrade = z.object({
  trade_id: z.string(),
  accepted: z.literal(false),
  error: z.object({ code: z.string(), message: z.string(), field: z.string(), context: z.looseObject({}) }),
});
export type RefusedTrade = z.infer<typeof RefusedTrade>;

const challengeNow = z.object({
  status: z.enum(CHALLENGE_STATUSES).meta({ description: 'Of the challenge, after it' }),
  champion_trades: z.int(),
  challenger_trades: z.int(),
  recommendation: z.string(),
});

const LoggedAlone = z.object({ ...logged, ...challengeNow.shape });
const LoggedTogether = z.object({
  challenge_id: z.string(),
  items: z.array(z.union([LoggedTrade, RefusedTrade])),
  ...challengeNow.shape,
});
export type TradesLogged = z.infer<typeof LoggedAlone> | z.infer<typeof LoggedTogether>;

const warnings = z.array(z.string()).meta({ description: 'Keys of the body that were ignored' });
export const TradesReply = z.union([
  LoggedAlone.extend({ warnings }).meta({ id: 'LoggedTrade' }),
  LoggedTogether.extend({ warnings }).meta({ id: 'LoggedTrades' }),
]);
