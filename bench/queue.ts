import type { Bench, Measurement } from './support/bench.ts';
import { type Account, simulateQueue } from './support/queue-simulation.ts';
import { scaled } from './support/quick.ts';

const LOAD = { jobs: scaled(10_000, 20), owners: 20, submittedWithinMs: 60_000 };
const SEED = 1;

/** More slots than vCPU, so that capacity is lacking all the time. */
const ACCOUNTS: readonly Account[] = [
  { name: 'new account, 6 vCPU', slots: 7, fastSlots: 4, functions: 3, vcpus: 6, launchesPerSecond: 20 },
  {
    name: 'large account, 4,000 vCPU',
    slots: 1_000,
    fastSlots: 50,
    functions: 40,
    vcpus: 4_000,
    launchesPerSecond: 20,
  },
];

async function measure(account: Account): Promise<Measurement[]> {
  const result = await simulateQueue(account, LOAD, SEED);
  const row = (
    label: string,
    value: number,
    unit: string,
    atMost?: number,
    detail?: string,
  ): Measurement => ({
    label: `${account.name}: ${label}`,
    value,
    unit,
    ...(atMost !== undefined && { target: { atMost } }),
    ...(detail !== undefined && { detail }),
  });
  return [
    row('failed jobs', result.failed, 'jobs', 0, `${result.completed} completed`),
    row('double runs', result.doubleRuns, 'runs', 0),
    row('starts without capacity', result.shortages, 'starts'),
    row('jobs of the fast lane that fell back to Fargate', result.fallbacks, 'jobs'),
    row('slot kept after its execution', result.longestIdleSlotMs / 1_000, 's', 120),
    row('jobs overtaken by a less urgent job of their owner', result.overtaken, 'jobs', 0),
    row('spread of starts between owners', result.ownerSpread, 'jobs'),
    row('drain', result.drainMs / 60_000, 'min of simulated time'),
  ];
}

export default {
  name: 'queue',
  description:
    'Job queue under load: 10,000 submissions in a minute; the real submit, dispatch and repair code with modeled quotas and with lost, late and repeated events, on a simulated clock',
  run: async () => (await Promise.all(ACCOUNTS.map(measure))).flat(),
} satisfies Bench;
