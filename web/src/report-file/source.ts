import type { FileCandles, ReportFileData } from '#contract/backtests/report-file.ts';
import type { Source } from '../api/client.ts';

/** Parameters of the calls of the report's parts. */
interface Query {
  readonly page?: number;
  readonly limit?: number;
  readonly symbol?: string;
  readonly from?: string;
  readonly to?: string;
}

type Answers = { readonly [id in Parameters<Source>[0]]?: (query: Query) => unknown };

/** Answers the calls of the report's parts from the data of the file. Throws for a call whose data it does not have. */
export function sourceOf({ report, curve, trades, candles }: ReportFileData): Source {
  const answers: Answers = {
    getBacktestReport: () => report,
    getBacktestCurve: () => curve,
    listBacktestTrades: ({ page = 1, limit = 0 }) => ({
      columns: Object.fromEntries(
        Object.entries(trades).map(([name, values]) => [
          name,
          values.slice((page - 1) * limit, page * limit),
        ]),
      ),
    }),
    getCandles: (query) => candlesOf(candles, query),
  };
  return (id, { query = {} }) => {
    const answer = answers[id];
    if (!answer) throw new Error(`This file does not have the data of ${id}. Open the report in Touchstone.`);
    return answer(query);
  };
}

const NO_CANDLES = { times: [], open: [], high: [], low: [], close: [], volume: [] };

/** The candles in the middle of the range. Others of it are not next to them: a chart would join what is apart. */
function candlesOf(windows: readonly FileCandles[], { symbol, from = '', to = '' }: Query) {
  const middle = (Date.parse(from) + Date.parse(to)) / 2_000;
  return (
    windows.find(({ pair, times }) => pair === symbol && times[0]! <= middle && middle <= times.at(-1)!) ??
    NO_CANDLES
  );
}
