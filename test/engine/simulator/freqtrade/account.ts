import { simulate } from '#engine/simulator/simulate.ts';
import type { PairInput } from '#engine/simulator/types.ts';
import { type Expected, type OrderRow, pairsOf, settingsOf } from '../vectors.ts';
import type { RandomScenario } from './random-scenarios.ts';
import { COLUMNS } from './recorded.ts';

/** freqtrade reports no account for each candle: here it follows from the trades that freqtrade made. */

const MINUTE = 60_000;
/** Every profit is rounded to 8 decimals, and an average price of several entries to a tick. */
const TOLERANCE = 1e-6;

interface Fill {
  readonly adds: boolean;
  readonly price: number;
  readonly amount: number;
  readonly at: number;
}

interface Trade {
  readonly pair: string;
  readonly sign: 1 | -1;
  /** In the order of their fills. */
  readonly fills: readonly Fill[];
  readonly profit: number;
  readonly close: number;
  readonly isForced: boolean;
}

function tradesOf({ trades }: Expected, start: number): Trade[] {
  return trades.map((row) => {
    const of = (name: string) => row[COLUMNS.indexOf(name)];
    const number = (name: string) => of(name) as number;
    const time = (minute: number) => start + minute * MINUTE;
    const orders = of('orders') as OrderRow[] | number;
    const [amount, close] = [number('amount'), time(number('close'))];
    return {
      pair: of('pair') as string,
      sign: of('side') === 'long' ? 1 : -1,
      profit: number('profit_abs'),
      close,
      isForced: of('exit_reason') === 'force_exit',
      fills: Array.isArray(orders)
        ? orders.map(([adds, price, filled, , at]) => ({
            adds: adds === 1,
            price,
            amount: filled,
            at: time(at),
          }))
        : [
            { adds: true, price: number('open_rate'), amount, at: time(orders) },
            { adds: false, price: number('close_rate'), amount, at: close },
          ],
    };
  });
}

/** A candle: its open, the open of the next one, and the last time up to which funding has been booked in it. */
interface Span {
  readonly time: number;
  readonly until: number;
  readonly booked: number;
}

/** What a trade has earned and is worth at the close of a candle; NaN where its orders do not tell. */
function worthOf(
  { fills, sign, isForced }: Trade,
  { candles, funding }: PairInput,
  { time, until, booked }: Span,
  fee: number,
) {
  let [cash, held] = [0, 0];
  // A trade left open is closed after the last row.
  for (const { adds, price, amount, at } of isForced ? fills.slice(0, -1) : fills) {
    if (at >= until) continue;
    // The average price of two entries is rounded to a tick.
    if (adds && held > 0) return Number.NaN;
    cash += (adds ? -sign : sign) * amount * price * (1 + (adds ? sign : -sign) * fee);
    held += adds ? amount : -amount;
  }
  const { timestamp, close } = candles;
  const last = timestamp.length - 1;
  const row = Math.min(last, Math.round((time - timestamp[0]!) / (until - time)));
  const worth = cash + sign * held * close[row]!;
  if (!funding) return worth;
  // At which amount an event counts that comes with an adjustment is a rule of its own.
  if (fills.length > 2) return Number.NaN;
  const isPaid = (at: number) => at >= fills[0]!.at && at <= Math.min(booked, timestamp[last]!);
  const rates = funding.rate.map((rate, event) => (isPaid(funding.timestamp[event]!) ? rate : 0));
  return rates.reduce((rest, rate, event) => rest - sign * held * rate * funding.markPrice[event]!, worth);
}

/** Rows of the account that differ from what freqtrade's trades make of it, as messages. */
export function accountDifferences({ scenario, shared }: RandomScenario, expected: Expected): string[] {
  const inputs = pairsOf(scenario, shared);
  const byPair = new Map(inputs.map((input) => [input.pair, input]));
  const settings = settingsOf(scenario, shared);
  const { startingBalance, timeframeMs, detailTimeframeMs, fee } = settings;
  const curve = simulate(inputs, settings).curve!;
  const sets = Object.values(scenario.pairs).map(({ candles }) => shared.candle_sets[candles]!);
  const trades = tradesOf(expected, Math.min(...sets.map(({ start_ms }) => start_ms)));
  const wrong: string[] = [];
  const compare = (row: number, name: string, own: number, value: number) => {
    if (Math.abs(own - value) > TOLERANCE * Math.max(1, Math.abs(value)))
      wrong.push(`${name} ${own} in row ${row}, not ${value}`);
  };
  for (const [row, time] of curve.timestamp.entries()) {
    const until = time + timeframeMs;
    const span = { time, until, booked: until - (detailTimeframeMs ?? timeframeMs) };
    const isClosed = ({ isForced, close }: Trade) =>
      isForced ? row === curve.timestamp.length - 1 : close < until;
    const open = trades.filter((trade) => !isClosed(trade) && trade.fills[0]!.at < until);
    const balance = trades.filter(isClosed).reduce((sum, { profit }) => sum + profit, startingBalance);
    const equity = open.reduce(
      (sum, trade) => sum + worthOf(trade, byPair.get(trade.pair)!, span, fee),
      balance,
    );
    const isReduced = open.some(({ fills }) => fills.some(({ adds, at }) => !adds && at < until));
    compare(row, 'open trades', curve.openTrades[row]!, open.length);
    compare(row, 'equity', curve.equity[row]!, equity);
    // The profit of a partial exit is booked, and no column of the trade.
    if (!isReduced) compare(row, 'balance', curve.balance[row]!, balance);
  }
  return wrong;
}
