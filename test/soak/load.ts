import type { Random } from '#engine/random.ts';
import type { SoakClient } from './client.ts';
import type { Jobs } from './jobs.ts';
import type { SoakedPlatform } from './platform.ts';
import type { Trades } from './trades.ts';

const PAIRS = ['BTC/USDT:USDT', 'ETH/USDT:USDT', 'SOL/USDT:USDT'];
const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2024, 0, 1);
const IMAGE = 'registry.example/strategies:1';

const CHALLENGE_MODEL = 'ema_crossover';
const TRANSITION_MODEL = 'rsi_mean_reversion';

/** Shared state of the actors. */
export interface Stage {
  readonly client: SoakClient;
  readonly jobs: Jobs;
  readonly urls: SoakedPlatform['urls'];
  readonly random: Random;
  readonly trades: Trades;
  readonly breaches: string[];
}

const integer = (random: Random, below: number) => Math.floor(random() * below);

function config(random: Random, strategy: string) {
  const start = FIRST_DAY + integer(random, 300) * DAY_MS;
  const timeframe = random() < 0.5 ? '1h' : '5m';
  const days = timeframe === '1h' ? 90 : 60;
  const end = new Date(start + days * DAY_MS).toISOString();
  const pairs = PAIRS.slice(0, 1 + integer(random, PAIRS.length));
  return { strategy, timeframe, pairs, date_range: { start: new Date(start).toISOString(), end } };
}

/** Always the same, with trades of both models: a version without trades cannot be staged. */
function versionConfig(strategy: string) {
  const [start, end] = [FIRST_DAY, FIRST_DAY + 180 * DAY_MS].map((time) => new Date(time).toISOString());
  return { strategy, timeframe: '1h', pairs: PAIRS, date_range: { start, end } };
}

/** Submits a backtest, and cancels one in ten. */
export async function backtest({ client, jobs, urls, random }: Stage): Promise<void> {
  const strategy = random() < 0.5 ? CHALLENGE_MODEL : TRANSITION_MODEL;
  const { status, body } = await client.call('POST', `${urls.backend}/api/v1/backtests`, {
    config: config(random, strategy),
    priority: 1 + integer(random, 7),
  });
  if (status !== 201) throw new Error(`A backtest was rejected: ${JSON.stringify(body)}`);
  const url = `${urls.backend}/api/v1/backtests/${body.job_id}`;
  jobs.add(url);
  if (random() < 0.1) await client.call('POST', `${url}/cancel`);
}

/** Starts a hyperopt job of few trials on two workers. */
export async function hyperopt({ client, jobs, urls, random }: Stage): Promise<void> {
  const { status, body } = await client.call('POST', `${urls.strategy}/api/v1/hyperopt`, {
    strategy: 'ml_classifier',
    timeframe: '1h',
    pairs: ['BTC/USDT:USDT'],
    n_trials: 4,
    workers: 2,
    seed: integer(random, 1000),
    train_period_days: 10,
    backtest_period_days: 5,
    n_estimators_range: [5, 20],
    date_range: { start: '2024-03-01T00:00:00Z', end: '2024-03-21T00:00:00Z' },
  });
  if (status !== 200) throw new Error(`A hyperopt job was rejected: ${JSON.stringify(body)}`);
  jobs.add(`${urls.strategy}/api/v1/hyperopt/${body.job_id}`);
}

/** Starts a collection of candles. 409: the queue is full. */
export async function collection({ client, jobs, urls, random }: Stage): Promise<void> {
  const start = FIRST_DAY + integer(random, 300) * DAY_MS;
  const { status, body } = await client.call('POST', `${urls.dataCollection}/api/v1/collections`, {
    symbols: [PAIRS[integer(random, PAIRS.length)]],
    timeframe: '1m',
    start: new Date(start).toISOString(),
    end: new Date(start + 20 * DAY_MS).toISOString(),
  });
  if (status === 409) return;
  if (status !== 201) throw new Error(`A collection was rejected: ${JSON.stringify(body)}`);
  jobs.add(`${urls.dataCollection}/api/v1/collections/${body.collection_id}`);
}

export function trade({ trades, random }: Stage): Promise<void> {
  return trades.post(1 + integer(random, 10));
}

/** Makes a random stage transition. Any response but a server error is valid. */
export async function transition(stage: Stage): Promise<void> {
  const { client, urls, random } = stage;
  const { body } = await client.call('GET', `${urls.backend}/api/v1/models/${TRANSITION_MODEL}/versions`);
  const { version } = body.versions[integer(random, body.versions.length)];
  const strategies = `${urls.backend}/api/v1/strategies/${TRANSITION_MODEL}`;
  const transitions = [
    [`${strategies}/stage`, { version }],
    [`${strategies}/promote`, { version }],
    [`${urls.backend}/api/v1/models/${TRANSITION_MODEL}/rollback`, { reason: 'soak' }],
  ] as const;
  const [path, content] = transitions[integer(random, transitions.length)]!;
  await client.call('POST', path, content);
  await checkProduction(stage);
}

/** At most one version of a model is in Production at any time. */
export async function checkProduction({ client, urls, breaches }: Stage): Promise<void> {
  for (const model of [TRANSITION_MODEL, CHALLENGE_MODEL]) {
    const { body } = await client.call('GET', `${urls.backend}/api/v1/models/${model}/versions`);
    const inProduction = body.versions.filter(({ stage }: { stage: string }) => stage === 'Production');
    if (inProduction.length > 1) breaches.push(`${model} has ${inProduction.length} versions in Production`);
  }
}

/** Reads one open and one ended job. */
export async function readJobs({ jobs, random }: Stage): Promise<void> {
  for (const urls of [jobs.open(), jobs.ended()]) {
    const url = urls[integer(random, urls.length)];
    if (url !== undefined) await jobs.check(url);
  }
}

/** Creates versions for transitions and a challenge for trades. Returns the URL of the challenge. */
export async function prepare(client: SoakClient, urls: SoakedPlatform['urls']): Promise<string> {
  const done = async (url: string, content: unknown) => {
    const { status, body } = await client.call('POST', url, content);
    if (status >= 400) throw new Error(`${url}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  for (const model of [TRANSITION_MODEL, CHALLENGE_MODEL]) {
    const { job_id } = await done(`${urls.backend}/api/v1/backtests`, {
      config: versionConfig(model),
    });
    let status = 'pending';
    while (status !== 'completed') {
      ({ status } = (await client.call('GET', `${urls.backend}/api/v1/backtests/${job_id}`)).body);
      if (status === 'failed') throw new Error(`The first backtest of ${model} failed`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const strategies = `/api/v1/strategies/${model}`;
    for (let version = 1; version <= 3; version++) {
      await done(`${urls.strategy}${strategies}/register`, {
        backtest_run_id: job_id,
        container_image_uri: IMAGE,
        description: 'soak',
        skip_validation: true,
      });
      await done(`${urls.backend}${strategies}/stage`, { version: String(version) });
    }
    await done(`${urls.backend}${strategies}/promote`, { version: '1' });
  }
  const { challenge_id } = await done(`${urls.strategy}/api/v1/models/${CHALLENGE_MODEL}/challenges`, {
    champion_version: '1',
    challenger_version: '2',
    enable_canary: false,
    min_trades: 100_000,
  });
  return `${urls.strategy}/api/v1/challenges/${challenge_id}`;
}
