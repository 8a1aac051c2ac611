import type { Bench } from './support/bench.ts';
import { expectOk, requestMeasurements, withPlatform } from './support/local-platform.ts';
import { time, timesOf } from './support/measure.ts';
import { scaled } from './support/quick.ts';

const SUBMITS = scaled(300, 2);
const READS = scaled(300, 2);
const WARM_UPS = scaled(30);
const BODY = JSON.stringify({
  config: {
    strategy: 'buy_and_hold',
    pairs: ['BTC/USDT:USDT'],
    timeframe: '1h',
    date_range: { start: '2026-01-01T00:00:00Z', end: '2026-01-08T00:00:00Z' },
  },
});

class Client {
  readonly #base: string;

  constructor(backend: string) {
    this.#base = `${backend}/api/v1/backtests`;
  }

  async submit(): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(this.#base, { method: 'POST', headers, body: BODY });
    const { job_id } = (await expectOk(response)) as { job_id: string };
    return job_id;
  }

  async cancel(jobId: string): Promise<void> {
    await (await fetch(`${this.#base}/${jobId}/cancel`, { method: 'POST' })).text();
  }

  async get(jobId: string): Promise<{ status: string }> {
    return (await expectOk(await fetch(`${this.#base}/${jobId}`))) as { status: string };
  }

  async list(): Promise<void> {
    await expectOk(await fetch(`${this.#base}?limit=20`));
  }

  async finished(jobId: string): Promise<void> {
    for (;;) {
      const { status } = await this.get(jobId);
      if (status === 'completed') return;
      if (status !== 'pending' && status !== 'running')
        throw new Error(`Backtest ${jobId} is ${status}, not completed`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Cancels each job before the next request, so that no task runs during the measurement. */
async function submitTimes(client: Client): Promise<number[]> {
  const times: number[] = [];
  for (let run = -WARM_UPS; run < SUBMITS; run++) {
    let jobId = '';
    const ms = await time(async () => {
      jobId = await client.submit();
    });
    await client.cancel(jobId);
    if (run >= 0) times.push(ms);
  }
  return times;
}

const readTimes = (read: () => Promise<unknown>) => timesOf(read, READS, WARM_UPS);

export default {
  name: 'submit',
  description: 'Requests over loopback to the local platform: one after the other, from another process',
  run: () =>
    withPlatform(async ({ backend_url }) => {
      const client = new Client(backend_url);
      // The first job collects the candles.
      const jobId = await client.submit();
      await client.finished(jobId);
      return [
        ...requestMeasurements('submit', await submitTimes(client)),
        ...requestMeasurements('get', await readTimes(() => client.get(jobId))),
        ...requestMeasurements('list of 20', await readTimes(() => client.list())),
      ];
    }),
} satisfies Bench;
