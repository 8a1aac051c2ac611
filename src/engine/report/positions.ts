/** The group of an enter tag: what precedes its first colon. null without a colon, or with nothing before it. */
export function groupOf(enterTag: string | null): string | null {
  const colon = enterTag === null ? -1 : enterTag.indexOf(':');
  return colon > 0 ? enterTag!.slice(0, colon) : null;
}

/** What decides to which position a trade belongs. */
export interface GroupedTrade {
  readonly group: string | null;
  /** Open times of the candles of entry order and exit, ms. */
  readonly openedAt: number;
  readonly closedAt: number;
}

/**
 * Number of the position of each trade, from 1 in the order of opening; 0 without a group. Trades of a group that overlap in time, also by
 * way of others, are one position. Those that only touch are two, unless they are opened in the same candle.
 */
export function positionNumbers(trades: readonly GroupedTrade[]): Int32Array {
  const rows = [...trades.keys()].filter((row) => trades[row]!.group !== null);
  rows.sort((a, b) => trades[a]!.openedAt - trades[b]!.openedAt || a - b);
  const numbers = new Int32Array(trades.length);
  const open = new Map<string, { number: number; openedAt: number; until: number }>();
  let count = 0;
  for (const row of rows) {
    const { group, openedAt, closedAt } = trades[row]!;
    let last = open.get(group!);
    if (!last || (openedAt >= last.until && openedAt > last.openedAt)) {
      last = { number: ++count, openedAt, until: closedAt };
      open.set(group!, last);
    }
    last.until = Math.max(last.until, closedAt);
    numbers[row] = last.number;
  }
  return numbers;
}
