import type { StoredReasons, StoredTradeReasons } from '#contract/backtests/trade-reasons.ts';
import type { RunReasons } from '#engine/run/run-reasons.ts';
import { type TradeTable, textAt } from '#engine/simulator/trade-table.ts';

/** Trades of a file. */
const FILE_TRADES = 100;

/** Name of the file that has a trade. @param id of the trade */
export const reasonsFile = (id: number) => `reasons/${Math.floor((id - 1) / FILE_TRADES)}.json`;

/** Index of a trade in its file. */
export const indexInFile = (id: number) => (id - 1) % FILE_TRADES;

/** Files of all trades of a run. */
export function* encodeReasons(
  table: TradeTable,
  reasons: RunReasons,
): Generator<readonly [name: string, bytes: Uint8Array]> {
  const encoder = new TextEncoder();
  for (let first = 0; first < table.length; first += FILE_TRADES) {
    const trades = Array.from({ length: Math.min(FILE_TRADES, table.length - first) }, (_, index) =>
      reasonsOf(table, first + index, reasons),
    );
    const file: StoredReasons = { schema_version: 1, trades };
    yield [reasonsFile(first + 1), encoder.encode(JSON.stringify(file))];
  }
}

function reasonsOf(table: TradeTable, row: number, reasons: RunReasons): StoredTradeReasons {
  const pair = textAt(table.pair, row);
  const side = textAt(table.side, row);
  const openedAt = table.openedAt[row]!;
  const { exits, adjustments, targets } = reasons.answersOf(pair, openedAt, side);
  return {
    pair,
    side,
    opened_at: openedAt,
    closed_at: table.closedAt[row]!,
    exit_reason: textAt(table.exitReason, row),
    steps: reasons.paths
      .of(pair, openedAt, side)
      .map(({ time, stop, moved, distance, from, liquidation, openValue, amount, funding }) => [
        time,
        stop,
        Number(moved),
        distance,
        from,
        liquidation,
        openValue,
        amount,
        funding,
      ]),
    exit: exits.at(-1) ? [...exits.at(-1)!] : null,
    adjustments: adjustments.map((each) => [...each]),
    targets: targets.map((each) => [...each]),
  };
}
