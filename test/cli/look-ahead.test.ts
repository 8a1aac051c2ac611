import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runScript } from '../support/command.ts';
import { runHyperopt } from '../support/hyperopt-jobs.ts';
import type { TestPlatform } from '../support/platform.ts';
import { SEER_MARKET, seerFolder } from '../support/seer.ts';
import { connect, stdio } from './mcp-fixture.ts';
import { platformFixture } from './platform-fixture.ts';

/** Commands on a run and a search of a strategy that reads the close of the next candle. */

const strategiesDirectory = seerFolder();
let platform: TestPlatform;
let leak: any;
let clean: any;
const touchstone = platformFixture('touchstone-cli-leak-', { strategiesDirectory }, async (started) => {
  platform = started;
  leak = await platform.run({ strategy: 'seer', ...SEER_MARKET });
  clean = await platform.run({ strategy: 'ema_crossover', ...SEER_MARKET });
});
const rowOf = (out: string, id: string) => out.split('\n').find((line) => line.includes(id))!;

describe('a run with a found look-ahead bias', () => {
  it('is marked in the list of jobs, with its exchange', async () => {
    expect([leak.look_ahead.state, clean.look_ahead.state]).toEqual(['found', 'sampled']);
    const { out } = await touchstone('jobs');
    expect(rowOf(out, leak.job_id)).toMatch(/│ sim +│.*│ found +│$/);
    expect(rowOf(out, clean.job_id)).toMatch(/│ sim +│.*│ sampled +│$/);
    expect(out).not.toContain('\u001b');
  });

  it('is red and struck through in a terminal with colors', async () => {
    const { out } = await runScript(platform.home, 'bin/touchstone.ts', ['jobs'], { FORCE_COLOR: '1' });
    const row = rowOf(out, leak.job_id);
    expect(row).toContain('\u001b[31mfound\u001b[39m');
    expect(row.split('\u001b[9m')[2]).toMatch(/^[\d.,]+ %/);
    for (const style of ['9', '31']) expect(rowOf(out, clean.job_id)).not.toContain(`\u001b[${style}m`);
    // The styles have no width: the borders of both rows are below each other.
    const borders = (line: string) => stripVTControlCharacters(line).length;
    expect(borders(row)).toBe(borders(rowOf(out, clean.job_id)));
  });

  it('is registered with a waiver only', async () => {
    const run = ['register', 'seer', '--run', leak.job_id];
    for (const more of [[], ['--skip-validation']]) {
      const { code, err } = await touchstone(...run, ...more);
      expect(code).toBe(1);
      expect(err).toContain('RES005');
      expect(err).toContain('look-ahead bias was found');
    }
    const done = await touchstone(...run, '--waive', 'look_ahead', '--reason', 'Demonstration');
    expect([done.code, done.err]).toEqual([0, '']);
    expect(done.out).toContain('look_ahead is waived.');
    const { out } = await touchstone('versions', 'seer');
    expect(out).toMatch(/│ sim +│ \w+ +│ found +│/);
    expect(out).toContain('waived: look_ahead');
    expect((await touchstone('versions', 'seer', '--history')).out).toContain('Demonstration');
  });

  it('is marked in a comparison of runs', async () => {
    const { out } = await touchstone('diff', clean.job_id, leak.job_id);
    expect(out).toContain(`b: ${leak.job_id}, seer on sim, look-ahead found`);
  });
});

describe('tools of agents', () => {
  it('name the runs with a found look-ahead bias before anything else', async () => {
    const { client, call } = await connect(stdio(platform.home, ['--allow', 'decide']));
    const { data, content } = await call('list_backtests');
    const rows = new Map(data.items.map((row: any) => [row.job_id, row]));
    expect(rows.get(leak.job_id)).toMatchObject({ exchange: 'sim', look_ahead: 'found' });
    expect(rows.get(clean.job_id)).toMatchObject({ exchange: 'sim', look_ahead: 'sampled' });
    expect(content.caveats[0]).toContain(`cannot be earned, and none of them is the best: ${leak.job_id}.`);
    const { tools } = await client.listTools();
    const register = tools.find(({ name }) => name === 'register_strategy');
    // A person waives it.
    expect(JSON.stringify(register!.inputSchema)).not.toContain('waive');
    await client.close();
  });
});

describe('a search of a strategy with look-ahead bias', () => {
  it('is searched once, and marks job, trials and result, which name no best trial', async () => {
    const request = {
      strategy: 'seer',
      ...SEER_MARKET,
      models: 'none',
      n_trials: 4,
      backtest_period_days: 10,
    };
    const { job, trials, result } = await runHyperopt(platform, request);
    expect(job.look_ahead).toMatchObject({ state: 'found', pairs: ['BTC/USDT:USDT'] });
    expect(job.look_ahead.findings[0]).toContain('look_ahead: ');
    expect(result.look_ahead).toEqual(job.look_ahead);
    expect(trials.map(({ look_ahead }) => look_ahead)).toEqual(Array(4).fill('found'));
    expect((await touchstone('hyperopt', 'list')).out).toMatch(/│ sim +│.*│ found +│/);
    const { out } = await touchstone('hyperopt', 'result', job.job_id);
    expect(out).toContain('Look-ahead: found. ');
    expect(out).not.toContain('Best: ');
    expect(out).not.toContain('Next: ');
    const colors = { FORCE_COLOR: '1' };
    const colored = await runScript(
      platform.home,
      'bin/touchstone.ts',
      ['hyperopt', 'result', job.job_id],
      colors,
    );
    const best = colored.out.split('\n').find((line) => line.includes('\u001b[9m'))!;
    // The value, and the worst, median and best window.
    expect(best.split('\u001b[9m')).toHaveLength(1 + 4);
    expect((await touchstone('hyperopt', 'trials', job.job_id)).out).toMatch(/│ found +│/);
  });

  it('leaves a search without bias as it is', async () => {
    const request = { strategy: 'ema_crossover', ...SEER_MARKET, models: 'none', n_trials: 3 };
    const { job, trials } = await runHyperopt(platform, { ...request, backtest_period_days: 10 });
    expect([job.look_ahead.state, job.look_ahead.findings]).toEqual(['sampled', []]);
    expect(new Set(trials.map(({ look_ahead }) => look_ahead))).toEqual(new Set(['sampled']));
    const { out } = await touchstone('hyperopt', 'result', job.job_id);
    expect(out).toContain('Look-ahead: sampled');
    expect(out).toContain('Best: ');
  });
});
