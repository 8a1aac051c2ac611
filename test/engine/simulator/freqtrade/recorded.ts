import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { simulate } from '#engine/simulator/simulate.ts';
import type { Simulation } from '#engine/simulator/types.ts';
import { differences, type Expected, type OrderRow, pairsOf, SHARED, settingsOf } from '../vectors.ts';
import type { RandomScenario } from './random-scenarios.ts';

/** What freqtrade 2026.9 gave for the random scenarios, a line of JSON for each; `record.ts` writes it. */
export const RECORDS = new URL('./random-scenarios.jsonl', import.meta.url);

/** What freqtrade gave for a seed. */
export interface Recorded extends Expected {
  readonly seed: number;
  /** {@link digestOf} the scenario: another generator would make another one of the seed. */
  readonly digest: string;
  /** freqtrade gives the same without the rules of margin and losses that the driver changes in it. */
  readonly as_released: boolean;
}

export function readRecords(): Recorded[] {
  return readFileSync(RECORDS, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded);
}

/** Columns of a recorded trade: those that the simulator has too. */
export const COLUMNS = SHARED.trade_columns.filter((name) => name !== 'stop_moved' && name !== 'price_tick');

export function digestOf({
  scenario,
  shared: { candle_sets, funding_sets, default_settings },
}: RandomScenario) {
  const input = JSON.stringify([scenario, candle_sets, funding_sets, default_settings]);
  return createHash('sha256').update(input).digest('hex').slice(0, 12);
}

/** Counters that count something else here: each attempt to replace an order there, the orders that were replaced here. */
const OTHER_COUNTERS = ['replaced_entry_orders', 'canceled_exit_orders'];

/**
 * What is compared of a reply, and recorded: trades in the order of closing, and no locks that ended before they began or that are made
 * when the positions left open are closed (in retrospect and in another order). Of two orders only the minute of the fill of the entry
 * is kept: the rest of them are columns of the trade.
 */
export function comparable({ trades, counters, locks = [], final_balance }: Expected): Expected {
  const at = (name: string) => COLUMNS.indexOf(name);
  const closeOf = (trade: Expected['trades'][number]) => trade[at('close')] as number;
  const forced = trades.filter((trade) => trade[at('exit_reason')] === 'force_exit');
  const end = Math.min(...forced.map(closeOf));
  return {
    final_balance,
    counters: Object.fromEntries(Object.entries(counters).filter(([name]) => !OTHER_COUNTERS.includes(name))),
    locks: locks.filter(([, , from, until]) => until > from && from < end),
    trades: trades
      .toSorted((a, b) => closeOf(a) - closeOf(b))
      .map((trade) => {
        const orders = trade[at('orders')] as OrderRow[];
        return orders.length > 2 ? trade : trade.with(at('orders'), orders[0]![4]);
      }),
  };
}

function beforeTheEnd({ locks, trades, ...rest }: Simulation): Simulation {
  const forced = trades.filter(({ leftOpen }) => leftOpen).map(({ closedAt }) => closedAt);
  const end = Math.min(...forced);
  return { ...rest, trades, locks: locks.filter(({ from }) => from < end) };
}

/** Differences between the simulator's run of a scenario and what is {@link comparable} of freqtrade's. */
export function differencesOf({ scenario, shared }: RandomScenario, expected: Expected): string[] {
  const simulation = simulate(pairsOf(scenario, shared), settingsOf(scenario, shared));
  const found = differences(beforeTheEnd(simulation), scenario, expected, {
    shared: { ...shared, trade_columns: COLUMNS },
    relative: 1e-13,
  });
  return found.filter((message) => !OTHER_COUNTERS.some((name) => message.startsWith(`${name} `)));
}
