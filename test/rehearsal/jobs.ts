import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { gatewayEvent } from '../support/gateway.ts';
import { clientConfig, type Emulator, postJson } from './emulator.ts';
import type { Deployed } from './rehearsal.ts';
import { resourcesOf } from './verify/resources.ts';

/** Time limit of a job in the emulator, ms: three functions and two tasks, each a process that starts. */
const JOB_LIMIT_MS = 120_000;
const PAUSE_MS = 500;

/** A backtest of candles that the platform makes itself. */
const CONFIG = {
  strategy: 'ema_crossover',
  exchange: 'sim',
  pairs: ['BTC/USDT:USDT'],
  timeframe: '1h',
  date_range: { start: '2025-01-01', end: '2025-01-15' },
};

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly error?: unknown;
  readonly timing?: unknown;
}

/** The backend of a deployed stage, called as API Gateway calls it. */
export class Backend {
  readonly #lambda: LambdaClient;
  readonly #function: string;

  constructor(deployed: Deployed) {
    this.#lambda = new LambdaClient(clientConfig(deployed.emulator));
    // The ARN of the alias.
    this.#function = resourcesOf(deployed, 'AWS::Lambda::Alias').find(({ logicalId }) =>
      logicalId.startsWith('BackendLive'),
    )!.physical;
  }

  /** @throws Error for another status than that of `expected` */
  async call<T>(method: string, path: string, expected: number, body?: unknown): Promise<T> {
    const event = gatewayEvent({
      path,
      httpMethod: method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json' },
      }),
    });
    const answer = await this.#lambda.send(
      new InvokeCommand({ FunctionName: this.#function, Payload: JSON.stringify(event) }),
    );
    const text = Buffer.from(answer.Payload!).toString();
    if (answer.FunctionError)
      throw new Error(`${method} ${path}: the function failed: ${text.slice(0, 1000)}`);
    const result = JSON.parse(text) as APIGatewayProxyResult;
    if (result.statusCode !== expected) {
      throw new Error(
        `${method} ${path}: ${result.statusCode} instead of ${expected}: ${result.body.slice(0, 1000)}`,
      );
    }
    return JSON.parse(result.body) as T;
  }

  async submit(name: string): Promise<string> {
    const body = { config: CONFIG, experiment_name: name };
    return (await this.call<Job>('POST', '/api/v1/backtests', 201, body)).job_id;
  }

  /** Waits for the end of a job. @throws Error unless it completes */
  async completed(jobId: string): Promise<Job> {
    const end = Date.now() + JOB_LIMIT_MS;
    for (;;) {
      const job = await this.call<Job>('GET', `/api/v1/backtests/${jobId}`, 200);
      if (job.status === 'completed') return job;
      if (job.status === 'failed' || Date.now() > end)
        throw new Error(`Job ${jobId}: ${JSON.stringify(job)}`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** Tasks that wait for their start. `hold`: new tasks wait until a later call without it. */
export async function tasks(
  emulator: Emulator,
  control: { readonly folder?: string; readonly hold?: boolean },
): Promise<readonly string[]> {
  const path = '/moto-api/rehearsal/tasks';
  return (await postJson<{ readonly waiting: readonly string[] }>(emulator, path, control)).waiting;
}

/** Build context of the task image in an assembly: the programs that its tasks run. */
export function taskPrograms(assembly: string): string {
  const folder = readdirSync(assembly).find((each) => existsSync(join(assembly, each, 'Dockerfile')));
  if (!folder) throw new Error('The assembly has no image asset');
  return join(assembly, folder);
}
