import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { output, pythonWith } from '../support/python.ts';

/** The Python client, installed by pip from a copy of its folder: against a platform, by its own tests, and by mypy. */

const ROOT = join(import.meta.dirname, '../..');
const CLIENT = join(ROOT, 'clients/python');
const found = await pythonWith('test/e2e/python/requirements.txt');
if ('missing' in found)
  console.warn(`Skipped: the Python client needs Python with packages. ${found.missing}.`);
const { python } = 'missing' in found ? { python: '' } : found;

describe.skipIf(python === '')('the Python client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-python-'));
  const installed = join(folder, 'site');
  const env = { PYTHONPATH: installed, HOME: folder };
  const script = { ...env, MPLBACKEND: 'Agg' };
  let platform: TestPlatform;
  beforeAll(async () => {
    const copy = join(folder, 'source');
    const isSource = (path: string) => !/\/(build|__pycache__|[^/]+\.egg-info|\.\w+_cache)$/.test(path);
    cpSync(CLIENT, copy, { recursive: true, filter: isSource });
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--no-build-isolation'];
    [platform] = await Promise.all([
      startTestPlatform(),
      output(python, ['-m', 'pip', 'install', ...options, '--target', installed, copy]),
    ]);
    mkdirSync(join(folder, 'files'));
  });
  afterAll(async () => {
    await platform?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('runs backtests, searches, versions, challenges and events, with the values of the HTTP API', async () => {
    const files = join(folder, 'files');
    const args = [join(import.meta.dirname, 'python/client.py'), platform.info.backend_url, files];
    const read = JSON.parse(await output(python, args, { env: script }));

    const path = `/api/v1/backtests/${read.run}`;
    const { body: job } = await platform.get(path);
    expect(read.metrics).toEqual(job.result);
    expect(job).toMatchObject({ notes: 'baseline', tags: ['a'], pinned: true, experiment_name: 'trend' });
    expect(job.config).toMatchObject({ params: { fast: 10 }, timeframe: '1h' });
    const { body: equity } = await platform.get(`${path}/equity`);
    const days = equity.dates.map((date: string) => Date.parse(`${date}T00:00:00Z`));
    expect(read.equity).toEqual({ date: days, equity: equity.equity, drawdown: equity.drawdown });
    expect(days).toHaveLength(31);
    const { body: curve } = await platform.get(`${path}/curve?resolution=candle`);
    const { times, ...columns } = curve;
    expect(read.curve).toEqual({
      time: times.map((seconds: number) => seconds * 1000),
      equity: columns.equity,
      drawdown: columns.drawdown,
      market: columns.market,
    });
    const { body: trades } = await platform.get(`${path}/trades?format=columns&limit=5000`);
    const milliseconds = ['opened_at', 'closed_at'].map((name) => [
      name,
      trades.columns[name].map((seconds: number) => seconds * 1000),
    ]);
    expect(trades.total).toBeGreaterThan(10);
    expect(read.trades).toEqual({ ...trades.columns, ...Object.fromEntries(milliseconds) });
    const [summary, drawn] = read.chart;
    expect(summary).toBe('<Chart BTC/USDT:USDT 1h, 100 candles>');
    expect(drawn.match(/<rect /g)).toHaveLength(100);
    const { opened_at, pair } = trades.columns;
    const isDrawn = (time: number, at: number) => pair[at] === 'BTC/USDT:USDT' && time >= times.at(-100);
    const lastEntries = opened_at.filter(isDrawn);
    expect(lastEntries.length).toBeGreaterThan(0);
    expect(drawn.match(/<title>Trade \d+: (long|short) entry /g)).toHaveLength(lastEntries.length);
    expect(read.dtypes).toMatchObject({ stake: 'float64', leverage: 'float64', id: 'int64' });
    const { body: report } = await platform.get(`${path}/report-data`);
    expect(read.report).toEqual(report.metrics);
    expect(read.files.every((size: number) => size > 500)).toBe(true);
    expect(statSync(join(files, 'equity.png')).size).toBeGreaterThan(5_000);
    expect(read.statuses.at(-1)).toBe('completed');
    expect(read.once).toBe(1);
    expect(job.session).toBe('trend');
    const [given, entries, same] = read.given;
    const { body: signals } = await platform.get(`/api/v1/backtests/${given}`);
    expect(signals.config).toMatchObject({
      strategy: 'signals',
      pairs: ['BTC/USDT:USDT'],
      date_range: { start: '2024-01-01T00:00:00.000Z', end: '2024-02-01T00:00:00.000Z' },
    });
    expect(entries).toBeGreaterThan(5);
    expect(signals.result.total_trades).toBe(entries);
    expect(same).toBe(true);
    expect(read.trial_record).toEqual(job.trials);
    expect(read.trial_record).toMatchObject({ owner: 1, session: 1 });

    const { body: result } = await platform.strategy.get(`/api/v1/hyperopt/${read.study}/result`);
    expect(read.best).toEqual({
      number: result.best_trial,
      value: result.best_value,
      params: result.best_params,
    });
    expect(read.trials).toContain(result.best_value);
    expect(read.events).toEqual(expect.arrayContaining(['snapshot', 'trial', 'status']));
    const { model_type: _, ...best } = result.best_params;
    expect(read.params).toEqual(best);

    expect(read.versions).toEqual(['3', '2', '1']);
    expect(read.champion).toBe('1');
    const { body: history } = await platform.get('/api/v1/models/ema_crossover/history');
    expect(read.history).toEqual(history.items.map((each: any) => each.action).slice(-read.history.length));
    expect(read.rolled_back).toBe(true);
    expect(read.labels).toMatchObject({ aliases: ['spare'], tags: ['b'] });
    expect(read.by_alias).toBe('2');
    expect(read.variants).toEqual(['challenger', 'champion']);
    expect(read.logged).toEqual([240, 240, true]);
    expect(read.evaluation).toMatchObject({ challenge_id: read.challenge, recommendation: 'CONTINUE' });
    expect(read.ended).toBe('rolled_back');

    const { body: list } = await platform.get('/api/v1/backtests?limit=50');
    // The last job was submitted after the list was read.
    expect(list.items.slice(1).map((each: any) => each.job_id)).toEqual(read.listed);
    expect(read.experiment).toEqual([read.run]);
    expect(Object.keys(read.candles.time)).toHaveLength(48);
    expect(read.errors).toEqual([
      ['NotFoundError', 'RES001'],
      ['ValidationError', 'VAL005'],
      ['ValidationError', 'INVALID_BODY'],
      ['ExpiredError', 'RES006'],
      ['JobError', 'DATA001'],
    ]);
  });

  it('passes its own tests', async () => {
    await output(python, ['-m', 'unittest', 'discover', '--start-directory', join(CLIENT, 'tests')], { env });
  });

  it('is typed without an error', async () => {
    const args = [
      '-m',
      'mypy',
      '--cache-dir',
      join(folder, 'mypy'),
      '--config-file',
      'pyproject.toml',
      'src',
    ];
    expect(await output(python, args, { cwd: CLIENT, env })).toContain('no issues found');
  });

  it('runs the notebook in a kernel', async () => {
    const notebook = join(CLIENT, 'examples/first-steps.ipynb');
    const { cells } = JSON.parse(readFileSync(notebook, 'utf8'));
    expect(cells.flatMap((cell: any) => cell.outputs ?? [])).toEqual([]);
    const run = join(import.meta.dirname, 'python/notebook.py');
    const address = { TOUCHSTONE_URL: platform.info.backend_url };
    const outputs: Record<string, any>[] = JSON.parse(
      await output(python, [run, notebook], { env: { ...env, ...address } }),
    );
    const types = outputs.flatMap((each) => Object.keys(each));
    expect(types.filter((type) => type === 'image/png')).toHaveLength(1);
    expect(types.filter((type) => type === 'text/html').length).toBeGreaterThanOrEqual(4);
  });

  it('runs the examples of the guide', async () => {
    const guide = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8')
      .split(/^## Python$/m)[1]!
      .split(/^## /m)[0]!;
    const signals = readFileSync(join(ROOT, 'docs/signals.md'), 'utf8');
    const blocks = (text: string) =>
      [...text.matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(([, each]) => each!);
    // The first example of signals is a fragment.
    const examples = [...blocks(guide), ...blocks(signals).slice(1)];
    expect(examples.length).toBeGreaterThanOrEqual(6);
    const file = join(folder, 'guide.py');
    writeFileSync(
      file,
      examples
        .join('\n')
        .replaceAll('http://127.0.0.1:8000', platform.info.backend_url)
        .replaceAll('Touchstone()', `Touchstone("${platform.info.backend_url}")`),
    );
    const printed = await output(python, [file], { cwd: folder, env: script });
    expect(printed).toContain('VAL005');
    expect(statSync(join(folder, 'equity.png')).size).toBeGreaterThan(5_000);
    expect(
      await output(python, ['-m', 'mypy', '--ignore-missing-imports', file], { cwd: folder, env }),
    ).toContain('no issues found');
  });
});
