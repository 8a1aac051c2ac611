import { describe, expect, it } from 'vitest';
import { Protection } from '#contract/config/protections.ts';
import { PROTECTION_KEYS } from '#contract/values/protection-limits.ts';
import { protectionProblems } from '#engine/definitions/protection-problems.ts';

const problems = (protection: unknown) =>
  protectionProblems([protection]).map(({ field, problem }) => `${field} ${problem}`);

describe('protections', () => {
  it('protections have the same keys in the contract and in the check', () => {
    const shapes = Protection.options.map(({ shape: { method, ...rest } }) => [
      method.value,
      Object.keys(rest).sort(),
    ]);
    const checked = Object.entries(PROTECTION_KEYS).map(([method, keys]) => [method, [...keys].sort()]);
    expect(checked).toEqual(shapes);
  });

  it('protections in the form of freqtrade are accepted', () => {
    expect(
      protectionProblems([
        { method: 'CooldownPeriod', stop_duration_candles: 5 },
        {
          method: 'StoplossGuard',
          lookback_period_candles: 24,
          trade_limit: 4,
          required_profit: 0,
          stop_duration_candles: 4,
          only_per_pair: false,
          only_per_side: true,
        },
        {
          method: 'LowProfitPairs',
          lookback_period: 360,
          trade_limit: 2,
          stop_duration: 60,
          required_profit: 0.02,
        },
        {
          method: 'MaxDrawdown',
          lookback_period_candles: 48,
          trade_limit: 20,
          unlock_at: '18:00',
          max_allowed_drawdown: 0.2,
          calculation_mode: 'equity',
        },
      ]),
    ).toEqual([]);
  });

  it.each([
    [
      { method: 'StopLossGuard' },
      '[0].method must be one of CooldownPeriod, StoplossGuard, LowProfitPairs, MaxDrawdown',
    ],
    ['StoplossGuard', '[0] must be an object'],
    [
      { method: 'CooldownPeriod', trade_limit: 3 },
      '[0].trade_limit is unknown; CooldownPeriod has lookback_period, lookback_period_candles, stop_duration, stop_duration_candles, unlock_at',
    ],
    [{ method: 'StoplossGuard', trade_limit: 0 }, '[0].trade_limit must be an integer from 1 to 1000'],
    [{ method: 'StoplossGuard', trade_limit: 1.5 }, '[0].trade_limit must be an integer from 1 to 1000'],
    [{ method: 'StoplossGuard', only_per_pair: 1 }, '[0].only_per_pair must be true or false'],
    [
      { method: 'MaxDrawdown', max_allowed_drawdown: 20 },
      '[0].max_allowed_drawdown must be a number from 0 to 1',
    ],
    [
      { method: 'MaxDrawdown', calculation_mode: 'daily' },
      '[0].calculation_mode must be one of ratios, equity',
    ],
    [
      { method: 'LowProfitPairs', required_profit: Number.NaN },
      '[0].required_profit must be a number from -1 to 1000',
    ],
    [{ method: 'CooldownPeriod', stop_duration: 0 }, '[0].stop_duration must be a number from 1 to 525600'],
    [
      { method: 'CooldownPeriod', unlock_at: '24:00' },
      '[0].unlock_at must be a time of day in UTC, such as 18:00',
    ],
    [
      { method: 'CooldownPeriod', stop_duration: 5, stop_duration_candles: 5 },
      '[0].stop_duration_candles and stop_duration exclude each other',
    ],
    [
      { method: 'CooldownPeriod', stop_duration: 5, unlock_at: '18:00' },
      '[0].unlock_at and stop_duration exclude each other',
    ],
  ])('protection %j is rejected', (protection, problem) => {
    expect(problems(protection)).toEqual([problem]);
  });

  it('protections that are no list, or too many, are rejected', () => {
    const many = Array.from({ length: 21 }, () => ({ method: 'CooldownPeriod' }));
    for (const value of [{}, 'CooldownPeriod', many])
      expect(protectionProblems(value)).toMatchObject([
        { field: '', problem: 'must be a list of at most 20 protections' },
      ]);
  });
});
