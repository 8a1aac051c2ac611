import { setTimeout as sleep } from 'node:timers/promises';
import type { ColumnsStatus } from '#contract/backtests/backtest-columns.ts';
import type { ApiClient } from '../client.ts';

/** Time between two requests for what a task computes, ms. */
const PAUSE_MS = 1_000;

/** What a task computes from a backtest: repeats the request until the computation has ended. */
export async function computed<T extends object>(client: ApiClient, path: string): Promise<T> {
  for (let isFirst = true; ; isFirst = false) {
    const found = await client.get<T | ColumnsStatus>(path);
    if (!isPending(found)) return found;
    if (isFirst) console.error('A task runs the backtest again for its columns ...');
    await sleep(PAUSE_MS);
  }
}

function isPending(found: object): found is ColumnsStatus {
  return Object.keys(found).join() === 'status';
}
