import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  ACCOUNT_DEFAULTS,
  ACCOUNT_LIMITS,
  MARGIN_MODES,
  ORDER_TYPES,
} from '#contract/values/account-limits.ts';
import { given, integerOrNone, positiveNumber } from './options.ts';

/** Options of the account and its orders: of a backtest and of a hyperopt job. */
export interface AccountOptions {
  readonly tradableRatio?: number;
  readonly capital?: number;
  /** False with --no-amend-last-stake. */
  readonly amendLastStake?: boolean;
  readonly lastStakeMin?: number;
  readonly orderType?: Readonly<Record<string, string>>;
  readonly timeout?: Readonly<Record<string, number>>;
  readonly ignoreEntryAfter?: number | 'none';
  readonly maxAdjustments?: number | 'none';
  /** False with --no-stack. */
  readonly stack?: boolean;
  readonly marginMode?: string;
}

export function addAccountFlags(command: Command): Command {
  return command
    .option(
      '--tradable-ratio <ratio>',
      `share of the balance that may be traded (default: ${ACCOUNT_DEFAULTS.tradable_balance_ratio})`,
      share,
    )
    .option(
      '--capital <amount>',
      'amount that may be traded, and its profit, in place of a share',
      positiveNumber,
    )
    .option('--amend-last-stake', 'lower the last stake to what is left')
    .option('--no-amend-last-stake', 'no trade with less than its stake')
    .option(
      '--last-stake-min <ratio>',
      `least share of the stake with --amend-last-stake (default: ${ACCOUNT_DEFAULTS.last_stake_amount_min_ratio})`,
      share,
    )
    .option(
      '--order-type <side=type>',
      `entry=market or exit=market, which call no price callback; repeatable (default: the strategy's, else ${ACCOUNT_DEFAULTS.order_type})`,
      orderType,
    )
    .option(
      '--timeout <side=minutes>',
      `age at which an unfilled order is cancelled, such as entry=60; repeatable (default: the strategy's, else ${ACCOUNT_DEFAULTS.unfilled_timeout})`,
      timeout,
    )
    .option(
      '--ignore-entry-after <candles>',
      "detail candles of a candle in which its entry signal acts, none: all of them (default: the strategy's, else all)",
      integerOrNone(ACCOUNT_LIMITS.ignore_entry_after_candles),
    )
    .option(
      '--max-adjustments <n>',
      "additions to a position by adjustPosition, 0: no addition, none: no limit (default: the strategy's)",
      integerOrNone(ACCOUNT_LIMITS.max_adjustments),
    )
    .option('--stack', 'a pair may have several trades at a time')
    .option('--no-stack', 'a pair has one trade at a time')
    .addOption(
      new Option(
        '--margin-mode <mode>',
        `margin of a leveraged position: its stake, or the account (default: ${ACCOUNT_DEFAULTS.margin_mode})`,
      ).choices(MARGIN_MODES),
    );
}

/** Fields of a request. An option for one side keeps the other side of `request`. */
export function accountFields(
  options: AccountOptions,
  request: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const nullable = (value: number | 'none' | undefined) => (value === 'none' ? null : value);
  const bySide = (name: string, values: object | undefined) =>
    values && { ...Object(request[name]), ...values };
  return given({
    tradable_balance_ratio: options.tradableRatio,
    available_capital: options.capital,
    amend_last_stake_amount: options.amendLastStake,
    last_stake_amount_min_ratio: options.lastStakeMin,
    order_types: bySide('order_types', options.orderType),
    unfilled_timeout: bySide('unfilled_timeout', options.timeout),
    ignore_entry_after_candles: nullable(options.ignoreEntryAfter),
    max_adjustments: nullable(options.maxAdjustments),
    position_stacking: options.stack,
    margin_mode: options.marginMode,
  });
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('Pass a ratio from 0 to 1, such as 0.5.');
}

function orderType(text: string, previous: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, side, type] = /^(entry|exit)=(.+)$/.exec(text) ?? [];
  if (side && (ORDER_TYPES as readonly string[]).includes(type!)) return { ...previous, [side]: type! };
  throw new InvalidArgumentError(`Pass entry or exit with ${ORDER_TYPES.join(' or ')}, such as exit=market.`);
}

function timeout(text: string, previous: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, side, minutes] = /^(entry|exit)=(.+)$/.exec(text) ?? [];
  if (side && Number(minutes) > 0) return { ...previous, [side]: Number(minutes) };
  throw new InvalidArgumentError('Pass entry or exit with minutes, such as entry=60.');
}
