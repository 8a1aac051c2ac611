/** Entry point of the collection before a backtest or a hyperopt job: the same in a Fargate container and as a child process. */

import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { openExchanges } from '#adapters/exchange/exchanges.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { CollectTaskEnv } from '#contract/env/env.ts';
import { HYPEROPT_ID_PREFIX } from '#contract/hyperopt/hyperopt.ts';
import { CodedError } from '#contract/values/errors.ts';
import { collectForJob } from '#domain/data/collect-for-job.ts';
import { startProcess } from '#runtime/process.ts';
import { runTask } from '#runtime/task.ts';

const { env, log } = startProcess(CollectTaskEnv, 'collect');

await runTask(env, log, async () => {
  const stop = new AbortController();
  const stopped = new CodedError('HTTP503', { message: 'The collection was stopped before its end' });
  process.once('SIGTERM', () => stop.abort(stopped));
  const stores = openMarketStores(env);
  const Jobs = env.JOB_ID.startsWith(HYPEROPT_ID_PREFIX) ? DynamoHyperoptStore : DynamoJobStore;
  const message = await collectForJob(
    {
      ...stores,
      jobs: new Jobs(stores.dynamo, env.JOBS_TABLE),
      exchanges: openExchanges({
        url: env.EXCHANGE_URL,
        intervalMs: env.EXCHANGE_INTERVAL_MS,
        onRetry: (call) => log.warn('retrying exchange request', { ...call, error: call.error as Error }),
      }),
      clock: Date,
      signal: stop.signal,
      onError: (error) => log.error('collection failed', error as Error),
    },
    env.JOB_ID,
  );
  log.info('collection ended', { job_id: env.JOB_ID, outcome: message ?? 'unknown job' });
});
