import type { Page, Route } from 'playwright-core';
import type { Coverage } from '#contract/market-data/coverage.ts';
import { createRandom } from '#engine/random.ts';
import { randomCandles } from './candles.ts';

/** Sizes of the answers. */
export const SIZES = {
  points: 100_000,
  candles: 100_000,
  /** Trades on the candles, and in the table. */
  drawn: 10_000,
  trades: 17_000,
  trials: 1_000,
  series: 1_200,
  months: 60,
} as const;

const HOUR = 3_600;
/** Candles of the range that the report names: the page loads as many at first, and asks for no more. */
const RANGE = 1_000;

const hours = (count: number, end: number) =>
  Array.from({ length: count }, (_, index) => end - (count - index) * HOUR);

/** Answers the requests of a report with generated data of full size; the rest of the report is that of a real job. */
export async function answerReport(page: Page, end: number): Promise<void> {
  const random = createRandom(7);
  const { open, high, low, close, volume } = randomCandles(5, SIZES.candles, '1h');
  const times = hours(SIZES.candles, end);
  const candles = { times, open, high, low, close, volume };
  await page.route('**/api/v1/candles?*', async (route) => {
    const columns = Object.entries(candles).map(([name, values]) => [name, [...values]]);
    await route.fulfill({ json: { ...Object.fromEntries(columns), timeframe: '1h', next_from: null } });
  });
  let equity = 10_000;
  let most = equity;
  const points = Array.from({ length: SIZES.points }, () => {
    equity *= 1 + 0.002 * (random() - 0.499);
    most = Math.max(most, equity);
    return { equity, drawdown: (equity / most - 1) * 100 };
  });
  await page.route('**/curve?*', (route) =>
    route.fulfill({
      json: {
        resolution: 'candle',
        step_seconds: HOUR,
        decimated: false,
        total: SIZES.points,
        times: hours(SIZES.points, end),
        equity: points.map((point) => point.equity),
        drawdown: points.map((point) => point.drawdown),
        market: points.map((_, index) => 10_000 + index / 20),
      },
    }),
  );
  await page.route('**/report-data?*', (route) => answerWithRange(route, end));
  const pairs: { readonly [pair: string]: number } = {
    'BTC/USDT:USDT': SIZES.drawn,
    'ETH/USDT:USDT': SIZES.trades - SIZES.drawn,
  };
  await page.route('**/trades?*', async (route) => {
    const query = new URL(route.request().url()).searchParams;
    const limit = Number(query.get('limit'));
    const first = (Number(query.get('page')) - 1) * limit;
    const ids = Array.from(
      { length: Math.min(limit, SIZES.trades - first) },
      (_, index) => first + index + 1,
    );
    const columns = columnsOf(ids, Object.entries(pairs), (at) => ({ time: times[at]!, price: close[at]! }));
    await route.fulfill({ json: { columns, total: SIZES.trades, page: first / limit + 1, limit } });
  });
}

/** The report of the job, with the number of trades and the range of the generated data. */
async function answerWithRange(route: Route, end: number): Promise<void> {
  const report = await (await route.fetch()).json();
  report.metrics.closed_trades.total_trades = SIZES.trades;
  report.settings.first_candle = new Date((end - RANGE * HOUR) * 1_000).toISOString();
  report.settings.date_range.end = new Date(end * 1_000).toISOString();
  await route.fulfill({ json: report });
}

/** Columns of trades: those of each pair evenly over all candles. */
function columnsOf(
  ids: readonly number[],
  pairs: readonly (readonly [string, number])[],
  at: (candle: number) => { readonly time: number; readonly price: number },
) {
  const rows = ids.map((id) => {
    const isFirst = id <= pairs[0]![1];
    const [pair, count] = pairs[isFirst ? 0 : 1]!;
    const index = isFirst ? id - 1 : id - 1 - pairs[0]![1];
    const candle = Math.floor((index / count) * (SIZES.candles - 20));
    const [entry, exit] = [at(candle), at(candle + 4 + (id % 12))];
    const profit_pct = (exit.price / entry.price - 1) * 100 * (id % 2 === 0 ? 1 : -1);
    return {
      id,
      pair,
      side: id % 2 === 0 ? 'long' : 'short',
      opened_at: entry.time,
      closed_at: exit.time,
      duration_minutes: (exit.time - entry.time) / 60,
      entry_price: entry.price,
      exit_price: exit.price,
      initial_stop_price: entry.price * 0.95,
      stop_price: entry.price * 0.97,
      stake: 1_000,
      leverage: 1,
      quantity: 1_000 / entry.price,
      fees: 0.8,
      funding: 0.1,
      profit: profit_pct * 10,
      profit_pct,
      exit_reason: id % 3 === 0 ? 'stop_loss' : 'exit_signal',
      enter_tag: id % 5 === 0 ? 'breakout' : null,
      left_open: false,
    };
  });
  return Object.fromEntries(
    Object.keys(rows[0]!).map((name) => [name, rows.map((row) => row[name as keyof typeof row])]),
  );
}

/** Answers the coverage with complete series, some of them with gaps. */
export async function answerCoverage(page: Page): Promise<void> {
  const months = Array.from({ length: SIZES.months }, (_, index) =>
    new Date(Date.UTC(2021, index)).toISOString().slice(0, 7),
  );
  const none = { closed: 0, no_trades: 0, damage: 0 };
  const items: Coverage['items'] = Array.from({ length: SIZES.series }, (_, index) => ({
    symbol: `S${String(index >> 1).padStart(4, '0')}/USDT:USDT`,
    timeframe: index % 2 === 0 ? '1h' : '4h',
    first: '2021-01-01T00:00:00.000Z',
    last: '2025-12-31T23:00:00.000Z',
    count: 43_000,
    gap_count: 3,
    missing_candles: 132,
    missing: { ...none, damage: 132 },
    imported: false,
    calendar: null,
    sessions: null,
    complete_from: null,
    updated_at: '2026-01-01T00:00:00.000Z',
    months: months.map((month, place) => {
      const lost = (index + place) % 17 === 0 ? 44 : 0;
      return {
        month,
        expected: 744,
        candles: 744 - lost,
        gap_count: lost > 0 ? 1 : 0,
        missing: { ...none, damage: lost },
        corrupt: (index + place) % 401 === 0,
      };
    }),
  }));
  const coverage: Coverage = { exchange: 'sim', items, next_cursor: null };
  await page.route('**/api/v1/coverage?*', (route) => route.fulfill({ json: coverage }));
}

/**
 * Replaces the event stream of a hyperopt job by one with finished trials, five in each frame, when `window.replay` is called.
 * Runs in the page before its own scripts.
 */
export function replayTrials(trials: number): void {
  const real = window.fetch;
  let isSent = false;
  window.fetch = async (input, init) => {
    if (!/hyperopt\/[^/]+\/events/.test(String(input))) return real(input, init);
    if (isSent) return new Response(null, { status: 204 });
    isSent = true;
    const text = new TextEncoder();
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const send = () => {
          for (let i = 0; i < 5 && sent < trials; i++) {
            sent += 1;
            const data = {
              number: sent - 1,
              state: sent % 9 === 0 ? 'pruned' : 'complete',
              value: sent % 9 === 0 ? null : Math.sin(sent) + sent / 500,
              best_value: sent / 500,
              params: { fast: 5 + (sent % 40), slow: 50 + (sent % 150), stoploss: -0.01 * (sent % 20) },
            };
            controller.enqueue(text.encode(`id: ${sent}\nevent: trial\ndata: ${JSON.stringify(data)}\n\n`));
          }
          dispatchEvent(new Event('replay'));
          document.documentElement.dataset.replayed = String(sent);
          if (sent < trials) requestAnimationFrame(send);
        };
        window.replay = send;
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  };
}

declare global {
  interface Window {
    replay(): void;
  }
}
