import { setTimeout as wait } from 'node:timers/promises';
import cliProgress from 'cli-progress';
import type * as z from 'zod';
import type { Instruments } from '#contract/instrument.ts';
import type { Collection } from '#contract/market-data.ts';
import type { ApiClient } from './client.ts';
import { minute, number, table } from './format.ts';

export interface CollectOptions {
  readonly timeframe: string;
  readonly exchange?: string;
  readonly start?: string;
  readonly end?: string;
}

type CollectionState = z.output<typeof Collection>;

const POLL_MS = 250;

/** Collects candles and instruments, and prints what was stored. Answers the exit code. */
export async function collect(
  client: ApiClient,
  symbols: readonly string[],
  options: CollectOptions,
): Promise<number> {
  const started = await client.post<CollectionState>('/api/v1/collections', { symbols, ...options });
  const ended = await follow(client, started);
  console.log(`${number(ended.candles, 0)} candles stored: ${ended.exchange}, ${ended.timeframe}`);
  await printInstruments(client, ended.exchange, ended.symbols);
  if (ended.status === 'completed') return 0;
  console.error(`${ended.collection_id} is ${ended.status}: ${ended.error}`);
  return 1;
}

async function follow(client: ApiClient, started: CollectionState): Promise<CollectionState> {
  const bar = new cliProgress.SingleBar(
    { format: '{status} [{bar}] {percentage} %', hideCursor: true, noTTYOutput: false },
    cliProgress.Presets.shades_classic,
  );
  bar.start(100, 0, { status: started.status });
  try {
    let state = started;
    while (state.status === 'pending' || state.status === 'running') {
      await wait(POLL_MS);
      state = await client.get<CollectionState>(`/api/v1/collections/${started.collection_id}`);
      bar.update(Math.floor(state.progress * 100), { status: state.status });
    }
    return state;
  } finally {
    bar.stop();
  }
}

async function printInstruments(
  client: ApiClient,
  exchange: string,
  symbols: readonly string[],
): Promise<void> {
  const { instruments } = await client.get<z.output<typeof Instruments>>(
    `/api/v1/instruments?exchange=${encodeURIComponent(exchange)}`,
  );
  const wanted = instruments.filter(({ symbol }) => symbols.includes(symbol));
  if (wanted.length > 0) {
    console.log(
      table(
        ['Symbol', 'Amount step', 'Amount', 'Cost', 'Contract size', 'Price tick', 'Collected (UTC)'],
        wanted.map((each) => [
          each.symbol,
          each.amount_step,
          range(each.min_amount, each.max_amount),
          range(each.min_cost, each.max_cost),
          each.contract_size,
          each.price_tick,
          minute(each.collected_at),
        ]),
      ),
    );
  }
  const missing = symbols.filter((symbol) => !wanted.some((each) => each.symbol === symbol));
  if (missing.length > 0) console.log(`No instrument: ${missing.join(', ')}`);
}

/** `0.001 to 1000`; an end that the exchange does not name is left out. */
function range(min: number | null, max: number | null): string | null {
  if (min === null) return max === null ? null : `up to ${max}`;
  return max === null ? `from ${min}` : `${min} to ${max}`;
}
