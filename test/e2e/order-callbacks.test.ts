import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { strategyFilesFixture, weekOf } from './strategy-files-fixture.ts';

/** The strategy of the section "Orders and data" in docs/writing-strategies.md. */
const SOURCE = /```ts\n([^`]+name: 'my_orders'[^`]+)```/.exec(
  readFileSync(new URL('../../docs/writing-strategies.md', import.meta.url), 'utf8'),
)![1]!;

describe('order callbacks', () => {
  const fixture = strategyFilesFixture({ 'my_orders.ts': SOURCE });

  it('a strategy that watches its orders has them counted in the report', async () => {
    const { platform } = fixture;
    const config = {
      ...weekOf('my_orders'),
      date_range: { start: '2026-01-01T00:00:00Z', end: '2026-03-08T00:00:00Z' },
    };
    const { job_id, look_ahead } = await platform.run(config);
    const path = `/api/v1/backtests/${job_id}`;
    const report = await (await platform.request(`${path}/export?format=json`)).json();
    expect(report.settings.callbacks).toEqual([
      'adjustExitPrice',
      'checkEntryTimeout',
      'checkExitTimeout',
      'confirmEntry',
      'customEntryPrice',
      'customExitPrice',
      'loopStart',
      'orderFilled',
    ]);
    const { counters, definitions } = (await platform.get(`${path}/report-data`)).body;
    expect(counters.replaced_exits).toBeGreaterThan(0);
    expect(counters.timed_out_entries).toBeGreaterThan(0);
    expect(counters.cancelled_exits).toBe(0);
    expect(definitions['counters.replaced_exits']).toMatchObject({ unit: 'count', family: 'counters' });
    expect(look_ahead?.findings ?? []).toEqual([]);
  });
});
