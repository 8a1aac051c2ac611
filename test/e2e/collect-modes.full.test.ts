import { describe, expect, it } from 'vitest';
import { TERMINAL } from '../support/platform.ts';
import { BTC, RANGE, silentExchangeFixture } from './collect-modes-fixture.ts';

/** Collect modes, on an exchange that counts requests and responds to none. */

const fixture = silentExchangeFixture();
const { run } = fixture;

describe('collect: never', () => {
  it('run uses stored candles and warns of the gaps', async () => {
    const first = await run({ pairs: [BTC] });
    expect(first.collection).toMatchObject({ status: 'completed' });
    const longer = { start: RANGE.start, end: '2026-03-20T00:00:00Z' };
    const job = await run({ pairs: [BTC], date_range: longer, collect: 'never' });
    expect(job).toMatchObject({ status: 'completed', collection: null });
    expect(job.warnings).toContain(
      `Not stored, and not collected because collect is never: ${BTC} 1h 2026-03-15T00:00:00.000Z to 2026-03-20T00:00:00.000Z`,
    );
    const whole = await run({ pairs: [BTC], collect: 'never' });
    expect(JSON.stringify(whole.warnings)).not.toContain('Not stored');
    expect(whole.result).toEqual(first.result);
  });

  it('hyperopt job keeps collect: never and reports its gaps', async () => {
    const { status, body } = await fixture.platform.strategy.post('/api/v1/hyperopt', {
      strategy: 'ml_classifier',
      exchange: 'binanceusdm',
      pairs: [BTC],
      n_trials: 1,
      collect: 'never',
      train_period_days: 20,
      backtest_period_days: 5,
      date_range: RANGE,
    });
    expect(status, JSON.stringify(body)).toBe(200);
    const job = await fixture.platform.until(body.job_id, ...TERMINAL);
    expect(job.status).toBe('failed');
    expect(job.error).toMatch(
      /because collect is never: BTC\/USDT:USDT 1h 2026-0\S+ to 2026-03-15T00:00:00.000Z/,
    );
    expect(fixture.asked).toBe(0);
  });
});
