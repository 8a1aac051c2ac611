import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '#engine/random.ts';
import { SoakClient } from './client.ts';
import { Jobs } from './jobs.ts';
import * as load from './load.ts';
import { type SoakedPlatform, startSoakedPlatform, VICTIMS, type Victim } from './platform.ts';
import { Trades } from './trades.ts';

export interface SoakOptions {
  readonly kills: number;
  readonly seed: number;
  /** Keep the data folder. */
  readonly keep?: boolean;
  readonly onProgress?: (text: string) => void;
}

export interface SoakResult {
  /** Broken guarantees, one line each. */
  readonly breaches: readonly string[];
  readonly kills: Readonly<Record<Victim, number>>;
  readonly jobs: number;
  readonly ends: Readonly<Record<string, number>>;
  readonly trades: number;
  readonly starts: number;
  readonly home: string;
}

/** Repeated action of each actor, and the mean delay between two, ms. */
const ACTORS = [
  [load.backtest, 700],
  [load.hyperopt, 8_000],
  [load.collection, 3_000],
  [load.trade, 150],
  [load.transition, 400],
  [load.readJobs, 50],
  [load.readJobs, 50],
] as const;

/** Minimum and maximum time between two kills, ms. */
const PAUSE_MS = [150, 1_200] as const;
/** Time limit for open jobs to end after the last kill, ms. */
const DRAIN_MS = 600_000;

/**
 * Kills random processes of a platform under a mixed load, waits for its jobs and checks its guarantees: no
 * acknowledged job is lost, no terminal state changes, no half-written file is served, one version of a model is in
 * Production, and each trade counts once.
 */
export async function soakPlatform(options: SoakOptions): Promise<SoakResult> {
  const { onProgress = () => undefined } = options;
  const platform = await startSoakedPlatform();
  let failed = true;
  try {
    const client = new SoakClient();
    const random = createRandom(options.seed);
    const jobs = new Jobs(client);
    const challenge = await load.prepare(client, platform.urls);
    const breaches: string[] = [];
    const stage: load.Stage = {
      client,
      jobs,
      random,
      breaches,
      urls: platform.urls,
      trades: new Trades(client, challenge),
    };
    const kills = await killUnderLoad(platform, stage, options);
    onProgress(`${jobs.size} jobs; waiting for ${jobs.open().length} of them to end`);
    await drain(stage, onProgress);
    await checkAll(stage, challenge);
    breaches.push(...jobs.breaches, ...client.breaches);
    breaches.push(...platform.failedStarts().map((text) => `a start failed: ${text}`));
    failed = breaches.length > 0;
    const { home } = platform;
    const { posted: trades } = stage.trades;
    return { breaches, kills, jobs: jobs.size, ends: jobs.counts, trades, starts: platform.starts(), home };
  } finally {
    await platform.stop(options.keep ?? failed);
  }
}

async function killUnderLoad(
  platform: SoakedPlatform,
  stage: load.Stage,
  { kills, onProgress = () => undefined, seed }: SoakOptions,
): Promise<Record<Victim, number>> {
  const random = createRandom(seed + 1);
  const counts = Object.fromEntries(VICTIMS.map((victim) => [victim, 0])) as Record<Victim, number>;
  let over = false;
  const actors = ACTORS.map(async ([act, rest]) => {
    while (!over) {
      await act(stage).catch((error: Error) => stage.breaches.push(error.message));
      await sleep(rest * (0.5 + random()));
    }
  });
  for (let killed = 0; killed < kills; ) {
    await sleep(PAUSE_MS[0] + random() * (PAUSE_MS[1] - PAUSE_MS[0]));
    const victim = await chooseVictim(platform, counts, random);
    const pids = platform.find(victim);
    const pid = pids[Math.floor(random() * pids.length)];
    if (pid === undefined || !platform.kill(victim, pid)) continue;
    counts[victim]++;
    killed++;
    onProgress(`${killed} of ${kills} kills: ${victim}`);
  }
  over = true;
  await Promise.all(actors);
  return counts;
}

/** One of this many kills hits the platform during its start. */
const STARTING = 8;
/** Time to wait for a process of the kind that was killed least, ms. */
const WAIT_MS = 10_000;

/** Kind killed least, if one starts within the time limit; else the running kind killed least. */
async function chooseVictim(
  platform: SoakedPlatform,
  counts: Readonly<Record<Victim, number>>,
  random: Random,
): Promise<Victim> {
  if (!platform.isReady() && random() < 1 / STARTING) return 'platform';
  const ranked = VICTIMS.toSorted((a, b) => counts[a] - counts[b]);
  for (const until = Date.now() + WAIT_MS; Date.now() < until; await sleep(50)) {
    if (platform.isReady() && platform.find(ranked[0]!).length > 0) return ranked[0]!;
  }
  return ranked.find((victim) => platform.find(victim).length > 0) ?? 'platform';
}

async function drain({ jobs, breaches }: load.Stage, onProgress: (text: string) => void): Promise<void> {
  const until = Date.now() + DRAIN_MS;
  let reported = Date.now();
  while (jobs.open().length > 0 && Date.now() < until) {
    for (const url of jobs.open()) await jobs.check(url);
    if (Date.now() - reported > 10_000) {
      reported = Date.now();
      onProgress(`${jobs.open().length} jobs have not ended yet`);
    }
    await sleep(200);
  }
  for (const url of jobs.open()) breaches.push(`${url} did not end within ${DRAIN_MS / 1000} s`);
}

/** Repeats all checks at the end, when the state is final. */
async function checkAll(stage: load.Stage, challenge: string): Promise<void> {
  const { client, jobs, trades, breaches } = stage;
  for (const url of jobs.ended()) await jobs.check(url);
  for (const url of jobs.completed().filter((each) => each.includes('/backtests/'))) {
    for (const part of ['equity', 'report-data']) {
      const { status, text } = await client.call('GET', `${url}/${part}`);
      if (status !== 200) breaches.push(`${url}/${part} of a completed job: ${status} ${text.slice(0, 200)}`);
    }
  }
  for (const url of jobs.completed().filter((each) => each.includes('/hyperopt/'))) {
    const { status, text } = await client.call('GET', `${url}/result`);
    if (status !== 200) breaches.push(`${url}/result of a completed job: ${status} ${text.slice(0, 200)}`);
  }
  await load.checkProduction(stage);
  const { body } = await client.call('GET', challenge);
  if (body.status !== 'active') breaches.push(`the challenge became ${body.status}: ${body.reason}`);
  breaches.push(...(await trades.check()));
}
