import { loadavg } from 'node:os';
import { join } from 'node:path';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { StoredChallenge } from '#contract/registry/stored-challenge.ts';
import type { PlatformInfo } from '../src/local/platform-info.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { challengeLog, type Item } from './support/challenge-log.ts';
import {
  benchTrade,
  ChallengeRequests,
  createChallenge,
  type FilledChallenge,
  REGISTRY_TABLE,
  UNBALANCED,
} from './support/challenge-requests.ts';
import { dumpTable, importItems, type TableDump } from './support/import-items.ts';
import { onPlatform, withHome } from './support/local-platform.ts';
import { median, time } from './support/measure.ts';
import { IS_QUICK, scaled } from './support/quick.ts';
import { RegistryClient } from './support/registry-client.ts';

/** `CHALLENGE_TRADES=10,10000 npm run bench -- challenges` skips the size of 1,000,000, which takes minutes to store. */
const SIZES = (process.env.CHALLENGE_TRADES ?? (IS_QUICK ? '10,1000' : '10,10000,1000000'))
  .split(',')
  .map(Number);
const MODELS = ['buy_and_hold', 'ema_crossover', 'macd_momentum', 'supertrend'];
const WARM_UPS = scaled(20);
const RUNS = scaled(200, 2);
const BATCHES = scaled(40, 2);
const LOOKS = scaled(15);
/** Target: ratio to the median with the fewest trades. Ideal is 1; the rest allows for noise of a shared machine. */
const FLAT = 1.25;

const count = (trades: number) => trades.toLocaleString('en-US');

function report(message: string): void {
  process.stderr.write(`challenges: ${message}\n`);
}

async function createChallenges(
  platform: PlatformInfo,
): Promise<{ readonly challenges: FilledChallenge[]; readonly dump: TableDump }> {
  const client = new RegistryClient(platform);
  const challenges: FilledChallenge[] = [];
  for (const [index, filled] of SIZES.entries()) {
    const model = MODELS[index]!;
    const id = await createChallenge(client, model);
    for (let stage = 1; stage < 3; stage++) await client.post(`challenges/${id}/advance`, {}, 'strategy');
    challenges.push({ model, filled, id });
  }
  return { challenges, dump: await dumpTable(platform.storage.DYNAMODB_ENDPOINT, REGISTRY_TABLE) };
}

/** Items of the registry. Each filled challenge follows the items of its trade log and has the totals of that log. */
function* filledItems(challenges: readonly FilledChallenge[], { items }: TableDump): Generator<Item> {
  const plain = items.map((item) => unmarshall(item as never));
  for (const [index, item] of items.entries()) {
    const challenge = challenges.find(({ id }) => plain[index]!.pk === `CHALLENGE#${id}`);
    if (!challenge || plain[index]!.sk !== 'META') {
      yield item;
      continue;
    }
    report(`${count(challenge.filled)} trades are stored`);
    const tradeOf = (trade: number) => benchTrade(trade, UNBALANCED);
    yield* challengeLog(StoredChallenge.parse(plain[index]), challenge.filled, tradeOf);
  }
}

type Request = 'trade' | 'batch' | 'assignment' | 'evaluate' | 'route';

const REQUESTS: Record<Request, { readonly label: string; readonly runs: number }> = {
  trade: { label: 'POST a trade', runs: RUNS },
  assignment: { label: 'POST an assignment', runs: RUNS },
  evaluate: { label: 'GET evaluate', runs: RUNS },
  route: { label: 'GET route', runs: RUNS },
  batch: { label: 'POST 100 trades', runs: BATCHES },
};

/** Durations by challenge, ms. The challenges take turns, so that other load affects all of them equally. */
async function timesInTurns(
  subjects: readonly ChallengeRequests[],
  runs: number,
  warmUps: number,
  timed: (subject: ChallengeRequests) => Promise<number>,
): Promise<number[][]> {
  const times: number[][] = subjects.map(() => []);
  for (let run = -warmUps; run < runs; run++) {
    for (const [index, subject] of subjects.entries()) {
      const ms = await timed(subject);
      if (run >= 0) times[index]!.push(ms);
    }
  }
  return times;
}

/** One row per size: the median, with the 95th percentile and the ratio to the first row as details. */
function measurementsOf(label: string, sizes: readonly string[], times: readonly number[][]): Measurement[] {
  const base = median(times[0]!);
  return times.map((each, index) => {
    const value = median(each);
    const p95 = [...each].sort((a, b) => a - b)[Math.floor(0.95 * each.length)]!;
    const ratio = index === 0 ? '' : `, ${(value / base).toFixed(2)} of the first`;
    return {
      label: `${label}, ${sizes[index]}`,
      value,
      unit: 'ms',
      ...(index === 0 ? {} : { target: { atMost: Number((FLAT * base).toPrecision(3)) } }),
      detail: `p95 ${p95.toFixed(1)} ms${ratio}, ${each.length} requests, load average ${loadavg()[0]!.toFixed(1)}`,
    };
  });
}

const sizes = SIZES.map((size) => `${count(size)} logged`);

async function requestMeasurementsOf(
  subjects: readonly ChallengeRequests[],
  variants: string,
): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const [name, { label, runs }] of Object.entries(REQUESTS)) {
    report(`${label}, ${variants}`);
    const warmUps = Math.min(WARM_UPS, runs / 4);
    const times = await timesInTurns(subjects, runs, warmUps, (subject) =>
      time(() => subject[name as Request]()),
    );
    measurements.push(...measurementsOf(`${label}, ${variants}`, sizes, times));
  }
  return measurements;
}

/** The most expensive write: the trade of the planned look. The variants are unbalanced, so it reads the last 5,000 trades. */
async function lookMeasurements(subjects: readonly ChallengeRequests[]): Promise<Measurement[]> {
  report('planned look');
  const logged = await Promise.all(subjects.map(async (subject) => (await subject.stored()).trades));
  const times = await timesInTurns(subjects, LOOKS, 2, (subject) => subject.timeLook());
  return measurementsOf(
    'POST the trade of the planned look',
    logged.map((trades) => `${count(trades)} logged`),
    times,
  ).map(({ target: _, ...measurement }) => measurement);
}

async function measure(
  platform: PlatformInfo,
  challenges: readonly FilledChallenge[],
): Promise<Measurement[]> {
  const subjects = challenges.map((challenge) => new ChallengeRequests(platform, challenge));
  for (const subject of subjects) await subject.checkLog();
  const unbalanced = await requestMeasurementsOf(subjects, 'variants 2 : 1');
  const looks = await lookMeasurements(subjects);
  for (const subject of subjects) await subject.balance();
  const balanced = await requestMeasurementsOf(subjects, 'variants balanced');
  for (const subject of subjects) {
    const { challenge_id, status } = await subject.stored();
    if (status !== 'active')
      throw new Error(`Challenge ${challenge_id} is ${status}; it must stay active during the benchmark`);
  }
  return [...unbalanced, ...balanced, ...looks];
}

export default {
  name: 'challenges',
  description: `Requests of champion/challenger tests over loopback to the local platform, with ${SIZES.map(count).join(', ')} trades logged already`,
  run: () =>
    withHome(async (home) => {
      const { challenges, dump } = await onPlatform(home, createChallenges);
      const start = performance.now();
      const items = filledItems(challenges, dump);
      await importItems(join(home, 'database.sqlite'), { table: REGISTRY_TABLE, schema: dump.schema, items });
      report(`filled in ${((performance.now() - start) / 1000).toFixed(0)} s`);
      return onPlatform(home, (platform) => measure(platform, challenges));
    }),
} satisfies Bench;
