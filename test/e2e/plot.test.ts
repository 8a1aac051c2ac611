import { describe, expect, it } from 'vitest';
import { poll } from '../support/poll.ts';
import { strategyFilesFixture, weekOf } from './strategy-files-fixture.ts';

/** `plot` of strategy files, as the API has it. */

const PLOT = {
  main: {
    fast: { color: 'orange' },
    upper: { fillTo: 'lower', color: '#12abEF80' },
    '4h:fast': { color: 'rgba(1, 2, 3, 0.5)' },
  },
  panels: { 'RSI <b>': { fast: {}, gone: { type: 'bar' }, levels: [30, 70] } },
};

const strategy = (name: string, plot: string) => `
export default {
  name: '${name}', description: 'Has a plot.', timeframe: '1h', pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 2, stoploss: -0.5, informativeTimeframes: ['4h'], plot: ${plot},
  indicators: ({ close }) => ({ fast: close, upper: close, lower: close }),
  signals: ({ timestamp }) => ({ enterLong: new Uint8Array(timestamp.length) }),
};
`;

/** Plots that make their file broken, with the problem. */
const BROKEN: readonly (readonly [plot: string, problem: string])[] = [
  [
    "{ main: { fast: { color: 'url(https://evil.example)' } } }",
    'plot.main.fast.color must be a name, #hex or rgba()',
  ],
  [
    "{ main: { fast: { color: 'red; background: blue' } } }",
    'plot.main.fast.color must be a name, #hex or rgba()',
  ],
  ["{ main: { fast: { color: '#12' } } }", 'plot.main.fast.color must be a name, #hex or rgba()'],
  ["{ main: { fast: { colour: 'red' } } }", 'plot.main.fast.colour is unknown'],
  ["{ main: { ['x'.repeat(65)]: {} } }", 'names are text of 1 to 64 characters'],
  ["{ panels: { ['a\\u0000b']: { fast: {} } } }", 'names are text of 1 to 64 characters'],
  ['{ panels: { RSI: { levels: [NaN] } } }', 'plot.panels.RSI.levels must be a list of at most 20 numbers'],
  ["{ main: { fast: 'red' } }", 'plot.main.fast must be an object'],
  ["{ main: { fast: { type: 'pie' } } }", 'plot.main.fast.type must be one of line, bar, scatter'],
  ['{ mian: {} }', 'plot.mian is unknown'],
  ['[]', 'plot must be an object with main and panels'],
];

const fixture = strategyFilesFixture({
  'drawn.ts': strategy('drawn', JSON.stringify(PLOT)),
  ...Object.fromEntries(
    BROKEN.map(([plot], index) => [`broken-${index}.ts`, strategy(`broken_${index}`, plot)]),
  ),
});

describe('plot', () => {
  it('of a strategy is part of its configuration; without one it is null', async () => {
    expect((await fixture.platform.get('/api/v1/strategies/drawn')).body.plot).toEqual(PLOT);
    expect((await fixture.platform.get('/api/v1/strategies/sound')).body.plot).toBe(null);
  });

  it('of a strategy is part of its columns, and one warning names the columns that a run lacks', async () => {
    const job = await fixture.platform.run(weekOf('drawn'));
    expect(job.status, job.error).toBe('completed');
    expect(job.warnings.filter((text: string) => text.includes('plot'))).toEqual([
      'plot of drawn names columns that the run lacks: gone.',
    ]);
    const pair = encodeURIComponent('BTC/USDT:USDT');
    const { body } = await poll(
      () => fixture.platform.get(`/api/v1/backtests/${job.job_id}/columns?pair=${pair}&limit=1`),
      ({ status }) => status !== 202,
    );
    expect(body.plot).toEqual(PLOT);
  });

  it('with a color that is none, a name that is no text or an unknown key makes the file broken', async () => {
    const { broken } = await fixture.list();
    for (const [index, [, problem]] of BROKEN.entries())
      expect(broken.find(({ file }: { file: string }) => file === `broken-${index}.ts`)?.error).toContain(
        problem,
      );
    expect(broken).toHaveLength(BROKEN.length);
  });
});
