import type { Trade } from '#contract/backtests/report.ts';

/** A trade of `freqtrade backtesting`, as its results have it. */
export interface FreqtradeTrade {
  readonly pair: string;
  readonly is_short: boolean;
  readonly open_timestamp: number;
  readonly close_timestamp: number;
  readonly open_rate: number;
  readonly close_rate: number;
  readonly amount: number;
  readonly stake_amount: number;
  readonly profit_abs: number;
  readonly profit_ratio: number;
  readonly exit_reason: string;
  readonly enter_tag: string | null;
  readonly initial_stop_loss_abs: number;
  readonly stop_loss_abs: number;
  readonly min_rate: number;
  readonly max_rate: number;
  readonly orders: readonly {
    readonly amount: number;
    readonly safe_price: number;
    readonly ft_is_entry: boolean;
    readonly order_filled_timestamp: number;
    readonly ft_order_tag: string | null;
  }[];
}

type Row = Readonly<Record<string, string | number | null>>;

/** Its results have amounts and stakes at 8 decimals. */
const HALF_UNIT = 5.1e-9;
/** The last digits of a double depend on the order of operations. */
const RELATIVE = 1e-12;

function rowOf(trade: Trade): Row {
  const orders = trade.orders ?? [
    { side: 'entry', price: trade.entry_price, amount: trade.amount, tag: trade.enter_tag },
    { side: 'exit', price: trade.exit_price, amount: trade.amount, tag: trade.exit_reason },
  ];
  return {
    pair: trade.pair,
    side: trade.side,
    opened_at: trade.opened_at,
    closed_at: trade.closed_at,
    entry_price: trade.entry_price,
    exit_price: trade.exit_price,
    amount: trade.amount,
    stake: trade.stake,
    profit: trade.profit,
    profit_pct: trade.profit_pct,
    exit_reason: trade.exit_reason,
    initial_stop_price: trade.initial_stop_price,
    stop_price: trade.stop_price,
    lowest_price: trade.lowest_price,
    highest_price: trade.highest_price,
    ...rowOfOrders(orders),
  };
}

function rowOfTheirs(trade: FreqtradeTrade): Row {
  const orders = trade.orders.map((order) => ({
    side: order.ft_is_entry ? 'entry' : 'exit',
    price: order.safe_price,
    amount: order.amount,
    tag: order.ft_order_tag,
  }));
  return {
    pair: trade.pair,
    side: trade.is_short ? 'short' : 'long',
    opened_at: new Date(trade.open_timestamp).toISOString(),
    closed_at: new Date(trade.close_timestamp).toISOString(),
    entry_price: trade.open_rate,
    exit_price: trade.close_rate,
    amount: trade.amount,
    stake: trade.stake_amount,
    profit: trade.profit_abs,
    profit_pct: trade.profit_ratio * 100,
    exit_reason: trade.exit_reason,
    initial_stop_price: trade.initial_stop_loss_abs,
    stop_price: trade.stop_loss_abs,
    lowest_price: trade.min_rate,
    highest_price: trade.max_rate,
    ...rowOfOrders(orders),
  };
}

interface Order {
  readonly side: string;
  readonly price: number;
  readonly amount: number;
  readonly tag: string | null;
}

function rowOfOrders(orders: readonly Order[]): Row {
  const columns = orders.flatMap(({ side, price, amount, tag }, index) =>
    Object.entries({ side, price, amount, tag }).map(([name, value]) => [`order ${index} ${name}`, value]),
  );
  return { orders: orders.length, ...Object.fromEntries(columns) };
}

function isSame(a: Row[string] | undefined, b: Row[string] | undefined): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return (a || null) === (b || null);
  return Math.abs(a - b) <= Math.max(HALF_UNIT, RELATIVE * Math.abs(b));
}

/** Differences between the trades of both sides, as texts; every field that both have is compared. */
export function differentTrades(ours: readonly Trade[], theirs: readonly FreqtradeTrade[]): string[] {
  const found: string[] = [];
  if (ours.length !== theirs.length) found.push(`${ours.length} trades, freqtrade ${theirs.length}`);
  for (let index = 0; index < Math.min(ours.length, theirs.length); index++) {
    const own = rowOf(ours[index]!);
    const other = rowOfTheirs(theirs[index]!);
    for (const name of new Set([...Object.keys(own), ...Object.keys(other)])) {
      if (!isSame(own[name], other[name]))
        found.push(`trade ${index + 1}: ${name} ${own[name]}, freqtrade ${other[name]}`);
    }
  }
  return found;
}
