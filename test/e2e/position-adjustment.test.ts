import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { strategyFilesFixture, weekOf } from './strategy-files-fixture.ts';

/** The strategy of the section "Position adjustment" in docs/writing-strategies.md. */
const SOURCE = /```ts\n([^`]+name: 'my_ladder'[^`]+)```/.exec(
  readFileSync(new URL('../../docs/writing-strategies.md', import.meta.url), 'utf8'),
)![1]!;

interface Order {
  readonly side: 'entry' | 'exit';
  readonly price: number;
  readonly amount: number;
  readonly fee: number;
  readonly funding: number;
  readonly tag: string | null;
}

describe('position adjustment', () => {
  const fixture = strategyFilesFixture({ 'my_ladder.ts': SOURCE });

  it('a strategy that adds and sells in steps has its orders in trades, columns and exports', async () => {
    const { platform } = fixture;
    const config = {
      ...weekOf('my_ladder'),
      date_range: { start: '2026-01-01T00:00:00Z', end: '2026-03-08T00:00:00Z' },
    };
    const { job_id } = await platform.run(config);
    const path = `/api/v1/backtests/${job_id}`;
    const { items } = (await platform.get(`${path}/trades?limit=5000`)).body;
    const adjusted = items.filter(({ orders }: { orders?: Order[] }) => orders);
    expect(adjusted.length).toBeGreaterThan(0);
    const orders = adjusted.flatMap((trade: { orders: Order[] }) => trade.orders) as Order[];
    expect(orders.some(({ tag }) => tag === 'half')).toBe(true);
    for (const trade of adjusted) {
      const entries = trade.orders.filter(({ side }: Order) => side === 'entry');
      expect(entries.length).toBeLessThanOrEqual(3);
      const sign = trade.side === 'long' ? 1 : -1;
      const cash = trade.orders.reduce(
        (sum: number, { side, price, amount, fee }: Order) =>
          sum - fee + (side === 'entry' ? -sign : sign) * price * amount,
        0,
      );
      expect(trade.profit).toBeCloseTo(cash + trade.funding, 5);
      expect(trade.fees).toBeCloseTo(
        trade.orders.reduce((sum: number, { fee }: Order) => sum + fee, 0),
        8,
      );
    }

    const { columns } = (await platform.get(`${path}/trades?limit=5000&format=columns`)).body;
    expect(columns.orders).toEqual(items.map(({ orders }: { orders?: Order[] }) => orders ?? null));
    const csv = await platform.request(`${path}/export?format=orders`);
    const lines = (await csv.text()).trim().split('\r\n');
    expect(lines[0]).toBe('trade_id,number,side,placed_at,filled_at,price,amount,fee,funding,tag');
    expect(lines).toHaveLength(1 + orders.length);
    const json = await (await platform.request(`${path}/export?format=json`)).json();
    expect(Object.keys(json.orders).map(Number)).toEqual(adjusted.map(({ id }: { id: number }) => id));
    expect(json.settings).toMatchObject({ max_adjustments: 2, callbacks: ['adjustPosition'] });
  });

  it('the number of additions is that of the request, or has no limit', async () => {
    const { platform } = fixture;
    const additions = async (options: object) => {
      const config = {
        ...weekOf('my_ladder'),
        date_range: { start: '2026-01-01T00:00:00Z', end: '2026-03-08T00:00:00Z' },
        ...options,
      };
      const job = await platform.run(config);
      const path = `/api/v1/backtests/${job.job_id}`;
      const { settings } = (await platform.get(`${path}/report-data?trades=false`)).body;
      const { items } = (await platform.get(`${path}/trades?limit=5000`)).body;
      const counts = items.map(
        ({ orders = [] }: { orders?: Order[] }) => orders.filter(({ side }) => side === 'entry').length || 1,
      );
      return { config: job.config, settings, most: Math.max(...counts) - 1 };
    };
    const [own, none, all] = await Promise.all([
      additions({ max_adjustments: 2 }),
      additions({ max_adjustments: 0 }),
      additions({ max_adjustments: null }),
    ]);
    // That of the strategy: a configuration with it is the one without it.
    expect(own.config).not.toHaveProperty('max_adjustments');
    expect(own).toMatchObject({ most: 2, settings: { max_adjustments: 2 } });
    expect(none).toMatchObject({
      most: 0,
      config: { max_adjustments: 0 },
      settings: { max_adjustments: 0 },
    });
    expect(all.config.max_adjustments).toBeNull();
    expect(all.settings).not.toHaveProperty('max_adjustments');
    expect(all.most).toBeGreaterThan(2);
  });
});
