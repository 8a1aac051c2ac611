import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runInProcess } from '../support/command.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Jobs that wait, on a platform without slots. */

const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-08T00:00:00Z' };
const CONFIG = { strategy: 'buy_and_hold', pairs: ['BTC/USDT:USDT'], timeframe: '1h', date_range: RANGE };

const home = mkdtempSync(join(tmpdir(), 'touchstone-queue-'));
let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ home, concurrency: 0, keepHome: true });
});
afterAll(async () => {
  await platform.stop();
  rmSync(home, { recursive: true, force: true });
});

async function submit(priority: number): Promise<string> {
  const { status, body } = await platform.post('/api/v1/backtests', { config: CONFIG, priority });
  expect([status, body.status]).toEqual([201, 'pending']);
  return body.job_id;
}

describe('waiting backtest', () => {
  test('get, list and touchstone jobs show its position by priority; a cancelled one has none', async () => {
    const [later, first] = [await submit(3), await submit(9)];
    const queueOf = async (id: string) => (await platform.get(`/api/v1/backtests/${id}`)).body.queue;
    const waiting = { waiting_for: 'slot', reason: null, next_start: null };
    expect(await queueOf(first)).toEqual({ position: 1, ...waiting });
    expect(await queueOf(later)).toEqual({ position: 2, ...waiting });
    const { body } = await platform.get('/api/v1/backtests?status=pending');
    const listed = body.items.map((item: any) => [item.job_id, item.queue.position]);
    expect(listed).toEqual([
      [first, 1],
      [later, 2],
    ]);
    const { code, out } = await runInProcess(home, ['jobs']);
    expect(code).toBe(0);
    expect(out.replaceAll(/\s+/g, ' ')).toContain('pending (position 2, waits for a slot)');
    await platform.post(`/api/v1/backtests/${first}/cancel`);
    expect(await queueOf(first)).toBeNull();
    expect(await queueOf(later)).toMatchObject({ position: 1 });
  });

  test('job starts after a restart with slots', async () => {
    const id = await submit(5);
    await platform.stop();
    platform = await startTestPlatform({ home, concurrency: 2, keepHome: true });
    expect((await platform.until(id, 'completed')).queue).toBeNull();
  });
});
