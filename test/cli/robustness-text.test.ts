import { describe, expect, it } from 'vitest';
import { runBacktest } from '#engine/backtest.ts';
import { robustnessText } from '../../bin/cli/reports/robustness-text.ts';
import { CONFIG, sampleInput, sha256 } from '../engine/backtest-sample.ts';
import { START, walk } from '../engine/run/candles.ts';

const FOUR_HOURS = 4 * 3_600_000;

function textOf(days: number, robustness?: (typeof CONFIG)['robustness']): string {
  const date_range = { ...CONFIG.date_range, end: new Date(START + days * 86_400_000).toISOString() };
  const input = sampleInput({
    config: {
      ...CONFIG,
      // Crises of the market are looked for in candles of an exchange only.
      exchange: 'binanceusdm',
      timeframe: '4h',
      date_range,
      leverage: 1,
      trailing: null,
      ...(robustness && { robustness }),
    },
    pairs: CONFIG.pairs.map((pair, i) => ({
      pair,
      candles: walk(days * 6 + 20, FOUR_HOURS, i + 1, START - 20 * FOUR_HOURS),
    })),
  });
  return robustnessText(runBacktest(input, { digest: sha256 }).report.robustness!, 'USDT');
}

describe('robustness in a terminal', () => {
  it('a long run shows findings and every table', () => {
    const text = textOf(300);
    for (const part of [
      'bp a side',
      'Against holding',
      'BTC/USDT:USDT',
      '500 paths',
      'up, low volatility',
      'August 2024',
    ])
      expect(text).toContain(part);
    expect(text).not.toMatch(/NaN|undefined/);
  });

  it('a short run says once why figures are missing', () => {
    const text = textOf(30);
    const line = text.replaceAll(/\s+/g, ' ');
    expect(line.match(/The run has 30 days; 90 are needed\./g)).toHaveLength(1);
    // A reason alone does not say of what.
    expect(line).toContain(
      'Not known: alpha against all pairs, alpha against bitcoin, bootstrap. The run has',
    );
    expect(line).toContain('Not known: regimes. The run has 30 days; a regime needs 91 before it.');
    expect(text).not.toContain('Against holding');
  });

  it('the capacity names the currency of its wallets', () => {
    expect(textOf(300, { capacity: true })).toMatch(/Wallet USDT │ +Multiple/);
  });

  it('one day, and one candle of delay, are in the singular', () => {
    const text = textOf(1, { cost_sweep: true });
    expect(text.replaceAll(/\s+/g, ' ')).toContain('The run has 1 day; a regime needs 91 before it.');
    expect(text).toMatch(/0 candles later │ 1 candle later │ 2 candles later/);
  });
});
