import { describe, expect, it } from 'vitest';
import { CAUSAL } from './causal-strategies.ts';
import { certify } from './certify-fixture.ts';
import { searchedRun } from './every-run.ts';
import { LEAKS } from './leaking-strategies.ts';

describe('strategies that use candles before they are known', () => {
  it.each(Object.entries(LEAKS))('a plain backtest finds %s', async (_, define) => {
    const { sample } = await searchedRun(define);
    expect(sample.findings.map(({ kind }) => kind)).toContain('look_ahead');
  });
  it.each(Object.entries(LEAKS))('a certificate finds %s', async (_, define) => {
    const { findings } = await certify(define, { seeds: [1, 2, 3], rows: 1_000 });
    expect(findings.map(({ kind }) => kind)).toContain('look_ahead');
  });
});

describe('strategies that use the past only', () => {
  it.each(Object.entries(CAUSAL))('a plain backtest accuses no %s', async (_, define) => {
    const { sample } = await searchedRun(define);
    expect(sample.findings).toEqual([]);
  });
  it.each(Object.entries(CAUSAL))('a certificate accuses no %s', async (_, define) => {
    const { findings } = await certify(define, { seeds: [1, 2, 3], rows: 1_000 });
    expect(findings).toEqual([]);
  });
});
