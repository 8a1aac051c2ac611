import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestPlatform } from '../../support/platform.ts';
import { poll } from '../../support/poll.ts';

export const SOL = 'SOL/USDT:USDT';

/** Starts a collection on the simulated market. */
export async function startCollection(platform: TestPlatform, body: object): Promise<string> {
  const response = await fetch(`${platform.info.data_collection_url}/api/v1/collections`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ symbols: [SOL], timeframe: '4h', ...body }),
  });
  const { collection_id } = (await response.json()) as { collection_id: string };
  return collection_id;
}

/** A completed collection. */
async function collect(platform: TestPlatform, body: object): Promise<string> {
  const id = await startCollection(platform, body);
  const read = async () => {
    const response = await fetch(`${platform.info.data_collection_url}/api/v1/collections/${id}`);
    return (await response.json()) as { status: string };
  };
  await poll(read, ({ status }) => status === 'completed');
  return id;
}

/** Series with complete, partly stored, empty and corrupt months. Returns the id of the last collection. */
export async function seedData(platform: TestPlatform): Promise<string> {
  await collect(platform, { start: '2024-01-10', end: '2024-03-20' });
  const id = await collect(platform, { start: '2024-06-01', end: '2024-09-01' });
  await collect(platform, { timeframe: '1d', start: '2023-01-01', end: '2024-09-01' });
  const folder = 'candles/exchange=sim/symbol=SOL_USDT_USDT/timeframe=4h';
  const file = join(platform.home, 'objects/candles', folder, '2024-07.parquet');
  const body = readFileSync(file);
  body[body.length >> 1]! ^= 1;
  writeFileSync(file, body);
  // Whoever reads the file records that it is corrupt.
  const query = `symbol=${encodeURIComponent(SOL)}&timeframe=4h&start=2024-07-01`;
  await fetch(`${platform.info.data_collection_url}/api/v1/ohlcv?${query}`);
  return id;
}
