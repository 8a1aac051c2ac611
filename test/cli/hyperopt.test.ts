import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { OverfittingReport } from '#contract/hyperopt/hyperopt.ts';
import { ApiClient } from '../../bin/cli/client.ts';
import { range, searched, startHyperopt } from '../../bin/cli/hyperopt/commands.ts';
import { overfittingText, printResult } from '../../bin/cli/hyperopt/results.ts';
import { type Job, readEvents, type StreamEvent, watchHyperopt } from '../../bin/cli/hyperopt/watch.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Event responses, one per call; the last one repeats. */
let events: Answer[] = [];
let jobs: object[] = [];
let posted: any;
const seen: string[] = [];
const server = createServer((request, response) => {
  if (request.method === 'POST') {
    request.on('data', (bytes) => {
      posted = JSON.parse(String(bytes));
    });
    request.on('end', () => response.end('{}'));
    return;
  }
  if (!request.url!.endsWith('/events')) {
    response.end(JSON.stringify(jobs.length > 1 ? jobs.shift() : jobs[0]));
    return;
  }
  seen.push(`${request.headers['last-event-id']}`);
  (events.length > 1 ? events.shift()! : events[0]!)(request, response);
});
let client: ApiClient;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = new ApiClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  seen.length = 0;
  onReport = () => undefined;
  jobs = [{ status: 'running' }];
});

const event = (name: string, id: number, data: object) =>
  `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const trial = (id: number) => event('trial', id, { number: id - 1 });
/** Called after each report to the watcher. */
let onReport: (trials: number) => void;
const stream =
  (...texts: string[]): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`retry: 1\n\n${texts.join('')}`);
  };
const ended =
  (...texts: string[]): Answer =>
  (request, response) => {
    stream(...texts)(request, response);
    response.end();
  };
/** Stream that breaks after the watcher reported that many trials. */
const broken =
  (after: number, ...texts: string[]): Answer =>
  (request, response) => {
    onReport = (trials) => trials === after && response.destroy();
    stream(...texts)(request, response);
  };
/** Stream that stalls beyond the time limit after the watcher read it. */
const silent =
  (...texts: string[]): Answer =>
  (request, response) => {
    onReport = () => {
      onReport = () => undefined;
      vi.advanceTimersByTime(delays.silenceMs);
    };
    stream(...texts)(request, response);
  };

/** Fakes `setTimeout` for tests of stalled streams, whose time limit is too long to wait. */
const delays = { pollMs: 1, retryMs: 1, silenceMs: 600_000 };
const fakeTimeouts = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
afterEach(() => {
  vi.useRealTimers();
});

async function watch(signal = new AbortController().signal, to = client) {
  const trials: number[] = [];
  const statuses: string[] = [];
  const watcher = {
    job({ status }: Job) {
      statuses.push(status);
      onReport(trials.length);
    },
    trial(_: unknown, ended: number) {
      trials.push(ended);
      onReport(trials.length);
    },
    permutedSearch: () => undefined,
  };
  const job = await watchHyperopt(to, 'ho-1', watcher, signal, delays);
  return { job, trials, statuses };
}

describe('watchHyperopt', () => {
  it('watch resumes after the last event when the stream breaks, ends or stalls', async () => {
    fakeTimeouts();
    events = [
      broken(2, event('snapshot', 0, { status: 'running' }), trial(1), trial(2)),
      ended(event('snapshot', 2, { status: 'running' }), trial(3), 'event: reconnect\ndata: {}\n\n'),
      silent(event('snapshot', 3, { status: 'running' })),
      stream(trial(4), event('status', 5, { status: 'completed' })),
    ];
    const { job, trials } = await watch();
    expect(job).toEqual({ status: 'completed' });
    expect(trials).toEqual([1, 2, 3, 4]);
    expect(seen).toEqual(['0', '2', '3', '3']);
  });

  it('watch keeps a stream that sends only comments', async () => {
    fakeTimeouts();
    let opened = 0;
    let comments = 0;
    const commenting = {
      get: async () => ({ status: 'running' }),
      open: async (_path: string, _headers: unknown, signal: AbortSignal) => {
        opened++;
        const chunks = new ReadableStream<Uint8Array>(
          {
            start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
            // Called after the previous chunk was read: the clock advances only between two comments.
            pull(controller) {
              const send = (text: string) => controller.enqueue(new TextEncoder().encode(text));
              if (++comments > 10) return send(event('status', 1, { status: 'completed' }));
              vi.advanceTimersByTime(delays.silenceMs - 1);
              if (!signal.aborted) send(': still here\n\n');
            },
          },
          { highWaterMark: 0 },
        );
        return new Response(chunks, { headers: { 'content-type': 'text/event-stream' } });
      },
    };
    const { job } = await watch(undefined, commenting as unknown as ApiClient);
    expect(job).toEqual({ status: 'completed' });
    expect(opened).toBe(1);
  });

  it('watch ends with the job when the stream returns 204', async () => {
    events = [broken(2, trial(1), trial(2)), (_, response) => response.writeHead(204).end()];
    jobs = [{ status: 'running' }, { status: 'cancelled' }];
    expect((await watch()).job).toEqual({ status: 'cancelled' });
  });

  it.each([
    ['an error response', (_: unknown, response: ServerResponse) => response.writeHead(503).end('{}')],
    ['another content type', (_: unknown, response: ServerResponse) => response.end('{}')],
  ])('watch polls after %s', async (_, response) => {
    events = [response as Answer];
    jobs = ['pending', 'pending', 'running', 'completed'].map((status) => ({ status }));
    const { job, statuses } = await watch();
    expect(job).toEqual({ status: 'completed' });
    expect(statuses).toEqual(['pending', 'pending', 'running', 'completed']);
    expect(seen).toHaveLength(1);
  });

  it('watch returns undefined when it is aborted', async () => {
    events = [stream(trial(1))];
    const left = new AbortController();
    onReport = (trials) => trials === 1 && left.abort();
    expect((await watch(left.signal)).job).toBeUndefined();
  });

  it('watch throws when the service does not respond', async () => {
    const unreachable = new ApiClient('http://127.0.0.1:1');
    await expect(watch(undefined, unreachable)).rejects.toThrow('No response');
  });
});

it.each([1, 2, 3, 7, 1_000])('events are parsed from chunks of %i bytes', async (size) => {
  const text = `retry: 5\r\n\r\n: still here\n\n${event('trial', 12, { name: 'Größe' })}event: a\ndata: 1\ndata: 2\n\nid: 9`;
  const bytes = new TextEncoder().encode(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.slice(i * size, (i + 1) * size),
  );
  const found: StreamEvent[] = [];
  for await (const each of readEvents(new Response(Readable.from(pieces) as never).body!, () => undefined))
    found.push(each);
  expect(found).toEqual([
    { retry: 5 },
    {},
    { event: 'trial', id: '12', data: '{"name":"Größe"}' },
    { event: 'a', data: '1\n2' },
  ]);
});

describe('startHyperopt', () => {
  it('options override the file', async () => {
    const options = {
      trials: 7,
      pairs: 'BTC/USDT:USDT, ETH/USDT:USDT',
      models: 'xgboost,lightgbm',
      trees: range('5..50'),
      start: '2026-01-01',
      search: searched('fast=5..20', searched('mode=a,2,true', searched('slow', {}))),
    };
    await startHyperopt(
      client,
      'ml_classifier',
      { seed: 3, n_trials: 1, date_range: { end: '2026-02-01' } },
      options,
    );
    expect(posted).toEqual({
      strategy: 'ml_classifier',
      seed: 3,
      n_trials: 7,
      pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
      model_types: ['xgboost', 'lightgbm'],
      n_estimators_range: [5, 50],
      date_range: { start: '2026-01-01', end: '2026-02-01' },
      search: { slow: {}, mode: { choices: ['a', 2, true] }, fast: { min: 5, max: 20 } },
    });
  });

  it('spaces and account options are sent by their request fields', async () => {
    const account = { stake: 'unlimited', wallet: 500, slots: 2, fee: 0.001, slippage: 0, leverage: 3 };
    const options = {
      capital: 300,
      amendLastStake: true,
      timeout: { entry: 60 },
      slippageModel: { impact: 2 },
    };
    await startHyperopt(
      client,
      'ema_crossover',
      {
        unfilled_timeout: { entry: 5, exit: 30 },
        slippage_model: { spread: 'edge', impact: 1 },
        // An option for a capital replaces it.
        tradable_balance_ratio: 0.5,
      },
      { models: 'none', spaces: 'params, roi', ...account, ...options },
    );
    expect(posted).toEqual({
      strategy: 'ema_crossover',
      model_types: ['none'],
      spaces: ['params', 'roi'],
      stake_amount: 'unlimited',
      dry_run_wallet: 500,
      max_open_trades: 2,
      fee: 0.001,
      slippage: 0,
      leverage: 3,
      available_capital: 300,
      amend_last_stake_amount: true,
      // An option for one side or part keeps the others.
      unfilled_timeout: { entry: 60, exit: 30 },
      slippage_model: { spread: 'edge', impact: 2 },
    });
  });

  it.each(['5', '5..', '..5', 'a..b', '1..2..3'])('range %j is rejected', (text) => {
    expect(() => range(text)).toThrow('min..max');
  });
});

describe('overfittingText', () => {
  const GOOD: OverfittingReport = {
    trials: 100,
    effective_trials: 12,
    days: 300,
    sharpe_ratio_daily: 0.2,
    expected_max_sharpe_daily: 0.1,
    probabilistic_sharpe_ratio: 0.99,
    deflated_sharpe_ratio: 0.97,
    min_track_record_days: 80,
    pbo: { probability: 0.05, loss_probability: 0.1, degradation_slope: 0.2, blocks: 16, splits: 12_870 },
    walk_forward_efficiency: 0.7,
    plateau: { width: 0.2, trials: 30 },
  };
  const pbo = (probability: number) => ({ ...GOOD.pbo!, probability });

  it('overfittingText reports no sign of overfitting when every diagnostic is good', () => {
    expect(overfittingText(GOOD)).toContain('No sign of overfitting (300 days out of sample)');
    expect(overfittingText(GOOD)).toContain('Probability 97 %');
    expect(overfittingText(GOOD)).toContain('100 zero-skill trials');
  });

  it('overfittingText without ML models omits the efficiency and out-of-sample days', () => {
    const text = overfittingText({ ...GOOD, walk_forward_efficiency: null }, false);
    expect(text).not.toContain('efficiency');
    expect(text).not.toContain('out of sample');
    expect(text).toContain('(300 days, all used to choose the parameters)');
  });

  it('overfittingText judges the p-value against permuted searches', () => {
    const chance = { low: -1, median: 2, high: 3.5 };
    const permuted = { searches: 99, undefined_searches: 0, p_value: 0.3, chance, reason: null };
    const text = overfittingText(GOOD, true, permuted).replaceAll(/[\s│]+/g, ' ');
    expect(text).toContain('Probably overfitted: permuted searches (');
    expect(text).toContain('Nine in ten of 99 searches on permuted candles find -1 to 3.5.');
    expect(overfittingText(GOOD, true, { ...permuted, p_value: 0.01 })).toContain('No sign of overfitting');
    const none = {
      ...permuted,
      p_value: null,
      chance: null,
      reason: 'No permuted search has a complete trial',
    };
    expect(overfittingText(GOOD, true, none)).toContain('Not proven: permuted searches (');
  });

  it.each([
    [{ deflated_sharpe_ratio: 0.9 }, 'Probably overfitted: deflated Sharpe ratio ('],
    [{ deflated_sharpe_ratio: 0.93 }, 'Not proven: deflated Sharpe ratio ('],
    [{ pbo: pbo(0.5) }, 'Probably overfitted: probability of overfitting ('],
    [{ pbo: pbo(0.3) }, 'Not proven: probability of overfitting ('],
    [{ walk_forward_efficiency: -0.2 }, 'Probably overfitted: walk-forward efficiency ('],
    [{ walk_forward_efficiency: 9 }, 'Not proven: walk-forward efficiency ('],
    [{ plateau: { width: 0, trials: 3 } }, 'Probably overfitted: plateau width ('],
    [{ pbo: null, plateau: null }, 'Not proven: probability of overfitting, plateau width ('],
  ])('overfittingText concludes from %j', (changes, words) => {
    const text = overfittingText({ ...GOOD, ...changes });
    expect(text).toContain(words);
    expect(text).not.toMatch(/NaN|undefined|null/);
  });
});

describe('best trials', () => {
  const overfitting = {
    trials: 1,
    days: 29,
    deflated_sharpe_ratio: null,
    pbo: null,
    walk_forward_efficiency: null,
    plateau: null,
  };
  const best_params = { model_type: 'none', fast: 5 };
  const result = {
    best_trials: [{ number: 0, value: 1, params: best_params }],
    best_params,
    overfitting,
    permutations: null,
    look_ahead: { state: 'sampled', findings: [], message: 'sampled' },
    warnings: [],
  };

  it.each([
    ['maximize', '-0.2', '0.7'],
    ['minimize', '0.7', '-0.2'],
  ])('%s: worst, median and best of the windows that have a value', async (direction, worst, best) => {
    const trials = { items: [{ number: 0, windows: [null, 0.7, -0.2, null] }], next_cursor: null };
    jobs = [result, { strategy: 'ema_crossover', config: { direction } }, trials];
    const print = vi.spyOn(console, 'log').mockReturnValue();
    await printResult(client, 'ho-1');
    const [text] = print.mock.calls[0]!;
    print.mockRestore();
    // The mean of the two middle values.
    expect(text).toMatch(new RegExp(`│ +0 │ +1 │ +4 │ +${worst} │ +0.25 │ +${best} │`));
  });
});
