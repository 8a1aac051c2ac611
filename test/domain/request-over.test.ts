import { describe, expect, it } from 'vitest';
import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { requestOver } from '#domain/request-over.ts';

const config = { strategy: 'x', params: {} } as ResolvedBacktestConfig;
const orders = {
  ...config,
  order_types: { entry: 'limit', exit: 'market' },
  unfilled_timeout: { entry: 60, exit: 30 },
} as const;

describe('requestOver', () => {
  it('keeps the side of an order option that the request does not name', () => {
    expect(
      requestOver(orders, {
        strategy: 'x',
        order_types: { entry: 'market' },
        unfilled_timeout: { exit: 5 },
      }),
    ).toMatchObject({
      order_types: { entry: 'market', exit: 'market' },
      unfilled_timeout: { entry: 60, exit: 5 },
    });
    expect(requestOver(orders, { strategy: 'x' })).toMatchObject({
      order_types: orders.order_types,
      unfilled_timeout: orders.unfilled_timeout,
    });
  });

  it('states limit orders, which a configuration leaves out, and no timeout', () => {
    const request = requestOver(config, { strategy: 'x', order_types: { exit: 'market' } });
    expect(request.order_types).toEqual({ entry: 'limit', exit: 'market' });
    expect(request).not.toHaveProperty('unfilled_timeout');
  });
});
