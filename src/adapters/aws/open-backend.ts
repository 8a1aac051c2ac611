import type { BackendEnv } from '#contract/env/env.ts';
import { promotionRules } from '#contract/env/release-rules-env.ts';
import { retentionDays } from '#contract/env/retention.ts';
import { maxRunning } from '#contract/env/slots-env.ts';
import type { NamedColumns } from '#domain/backtests/get-backtest-columns.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import { lazy } from '#domain/shared/lazy.ts';
import { openRegistry } from '../dynamo/open-registry.ts';
import { serviceProbe, tableProbe } from '../health-probes.ts';
import { gzipBase64 } from '../objects/gzip.ts';
import { webhookSignatures } from '../webhooks/signatures.ts';
import { openAws } from './open-aws.ts';

/** Dependencies of the deployed backend. `onChallengeChange` is notified of each stored change of a challenge. Long because it is their list. */
export function openBackend(env: BackendEnv, onChallengeChange: ChallengeListener) {
  const aws = openAws(env);
  const dataProxy = lazy(async () => {
    const { createLambdaClient, lambdaDataProxy } = await import('./lambda-data-proxy.ts');
    const { DataProxyClient } = await import('../data-proxy-client.ts');
    return new DataProxyClient(lambdaDataProxy(createLambdaClient(), env.DATA_PROXY_FUNCTION));
  });
  return {
    ...aws,
    ...openRegistry(env.REGISTRY_TABLE, env.DYNAMODB_ENDPOINT, onChallengeChange),
    ...promotionRules(env),
    rollbackReasonRequired: env.REQUIRE_ROLLBACK_REASON,
    maxRunning: maxRunning(env),
    retention: retentionDays(env),
    rejectImages: env.REJECT_IMAGES,
    allowedRegistries: env.ALLOWED_REGISTRIES ?? null,
    fastLaneSeconds: env.FAST_LANE_SECONDS,
    executions: lazy(async () => {
      const { createSfnClient, SfnExecutions } = await import('./sfn-executions.ts');
      return new SfnExecutions(createSfnClient(), env.BACKTEST_STATE_MACHINE_ARN);
    }),
    imageRunProgress: async (task: string) =>
      (await import('../images/image-run-progress.ts')).imageRunProgress(env)(task),
    downloads: lazy(async () => {
      const { S3Downloads } = await import('./s3-downloads.ts');
      const { createS3Client } = await import('./s3-object-store.ts');
      return new S3Downloads(createS3Client(), env.RESULTS_BUCKET, Date);
    }),
    signalFiles: lazy(async () => {
      const { S3SignalFiles } = await import('./s3-signal-files.ts');
      const { createS3Client } = await import('./s3-object-store.ts');
      return new S3SignalFiles(createS3Client(), env.RESULTS_BUCKET, Date);
    }),
    dataProxy,
    webhookDelivery: {
      eventSource: env.EVENT_SOURCE,
      // It checks addresses; the function of webhooks sends.
      sender: lazy(async () => {
        const { HttpsSender } = await import('../webhooks/https-sender.ts');
        return new HttpsSender({ userAgent: 'touchstone' });
      }),
      signatures: webhookSignatures,
      waker: lazy(async () => {
        const { WebhookQueue } = await import('./webhook-queue.ts');
        return new WebhookQueue(env.WEBHOOK_QUEUE_URL, aws.dynamo);
      }),
    },
    reportPage: async () => (await import('./report-page.ts')).readReportPage(),
    gzipBase64,
    encodeColumns: async (columns: NamedColumns) =>
      (await import('../parquet/columns.ts')).writeColumnsParquet(columns),
    probes: {
      strategy_service: env.STRATEGY_SERVICE_URL ? serviceProbe(env.STRATEGY_SERVICE_URL, 'strategy') : null,
      data_collection: () => dataProxy.probe(),
      registry: tableProbe(aws.dynamo, 'registry', env.REGISTRY_TABLE),
    },
  };
}
