import type { TRADE_FIELDS, TradeInput } from '#contract/challenge-trade.ts';
import { CodedError } from '#contract/errors.ts';
import {
  TRADE_LIMITS as LIMITS,
  MAX_ASSIGNMENT_KEY_LENGTH,
  TRADE_MODES,
  TRADE_SIDES,
} from '#contract/limits.ts';
import {
  type StoredTrade,
  TRADE_STATUSES,
  type TradeDetails,
  VARIANTS,
  type Variant,
} from '#contract/stored-challenge.ts';
import { canonicalJson, type Digest } from '#engine/digest.ts';
import {
  ACCEPTED_TIMES,
  checkNumber,
  checkOneOf,
  checkSymbol,
  checkText,
  isoTime,
  parseTime,
} from '../validate.ts';

/** A trade as it was posted, with every rule checked that the challenge itself does not decide. */
export interface PostedTrade {
  readonly tradeId: string;
  /** Where the request has it: empty, or `trades.3.`. */
  readonly path: string;
  readonly variant: Variant | undefined;
  readonly version: string | undefined;
  readonly status: StoredTrade['status'];
  readonly details: TradeDetails;
  /** Of what was sent: the same again is a repeat. That of an open trade leaves out its mark, which may change. */
  readonly digest: string;
}

/** Throws VAL001, VAL002, VAL004, VAL005, naming the field. */
export function readTrade(
  trade: TradeInput,
  fields: typeof TRADE_FIELDS,
  digest: Digest,
  path = '',
): PostedTrade {
  const at = (name: string) => `${path}${name}`;
  const status = checkOneOf(trade.status ?? 'closed', at('status'), TRADE_STATUSES);
  if (trade.variant === undefined && trade.version === undefined) {
    const message = 'A trade needs its variant (champion or challenger) or its version';
    throw new CodedError('VAL004', { message, field: at('variant') });
  }
  const same = status === 'open' ? fields.filter((name) => name !== 'profit_pct') : fields;
  checkError(trade, status, at);
  const sent = Object.fromEntries(same.map((name) => [name, trade[name]]));
  return {
    tradeId: nonEmpty(trade.trade_id!, at('trade_id'), LIMITS.trade_id),
    path,
    variant: trade.variant === undefined ? undefined : checkOneOf(trade.variant, at('variant'), VARIANTS),
    version: trade.version === undefined ? undefined : String(trade.version),
    status,
    details: readDetails(trade, at),
    digest: digest(canonicalJson({ ...sent, status })),
  };
}

/** An error has a message instead of a profit. Throws VAL005. */
function checkError(trade: TradeInput, status: StoredTrade['status'], at: (name: string) => string): void {
  const isError = status === 'error';
  const names = isError ? (['profit_pct', 'profit_abs'] as const) : (['error_message'] as const);
  const wrong = names.find((name) => trade[name] !== undefined);
  if (!wrong) return;
  const message = isError ? `An error has no ${wrong}` : 'Only an error has an error_message';
  throw new CodedError('VAL005', { message, field: at(wrong), context: { status } });
}

function readDetails(trade: TradeInput, at: (name: string) => string): TradeDetails {
  const number = (name: 'profit_abs' | 'stake_amount' | 'fee_abs') =>
    trade[name] === undefined ? null : checkNumber(trade[name], at(name), LIMITS.amount);
  const time = (name: 'opened_at' | 'closed_at') => readTime(trade[name], at(name));
  const leverage =
    trade.leverage === undefined ? null : checkNumber(trade.leverage, at('leverage'), LIMITS.leverage);
  const profitBounds = { ...LIMITS.profit_pct, min: LIMITS.profit_pct.min * (leverage ?? 1) };
  const { profit_pct, pair, side, mode, assignment_key } = trade;
  const details = {
    profit_pct: profit_pct === undefined ? null : checkNumber(profit_pct, at('profit_pct'), profitBounds),
    profit_abs: number('profit_abs'),
    stake_amount: number('stake_amount'),
    fee_abs: number('fee_abs'),
    leverage,
    pair: pair === undefined ? null : checkSymbol(pair, at('pair')),
    side: side === undefined ? null : checkOneOf(side, at('side'), TRADE_SIDES),
    opened_at: time('opened_at'),
    closed_at: time('closed_at'),
    exit_reason: checkText(trade.exit_reason, at('exit_reason'), LIMITS.exit_reason),
    exchange: checkText(trade.exchange, at('exchange'), LIMITS.exchange),
    mode: mode === undefined ? null : checkOneOf(mode, at('mode'), TRADE_MODES),
    error_message: checkText(trade.error_message, at('error_message'), LIMITS.error_message),
    assignment_key:
      assignment_key === undefined
        ? null
        : nonEmpty(assignment_key, at('assignment_key'), MAX_ASSIGNMENT_KEY_LENGTH),
  };
  checkOrder(details, at('opened_at'));
  return details;
}

/** Throws VAL001, naming the field, for a trade that closes before it opens. */
export function checkOrder(
  { opened_at, closed_at }: Pick<TradeDetails, 'opened_at' | 'closed_at'>,
  field: string,
): void {
  if (opened_at === null || closed_at === null || opened_at <= closed_at) return;
  const message = 'A trade cannot close before it opens; it closes now unless it says when';
  throw new CodedError('VAL001', { message, field, context: { opened_at, closed_at } });
}

function readTime(text: string | undefined, field: string): string | null {
  if (text === undefined) return null;
  const time = parseTime(text);
  if (time !== undefined) return isoTime(time);
  throw new CodedError('VAL001', {
    message: `${field} must be a time: ${ACCEPTED_TIMES}`,
    field,
    context: { value: text.slice(0, 100) },
  });
}

/** The text. Throws VAL005 for an empty one and beyond `max` characters. */
export function nonEmpty(text: string, field: string, max: number): string {
  if (text === '') throw new CodedError('VAL005', { message: `${field} must not be empty`, field });
  return checkText(text, field, max)!;
}
