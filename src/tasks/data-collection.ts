/** Entry point of the data collection service in its container. */
import { openAudit } from '#adapters/dynamo/audit-trail.ts';
import { storedCursorKey } from '#adapters/dynamo/cursor-key.ts';
import { openRegistry } from '#adapters/dynamo/open-registry.ts';
import { openExchanges } from '#adapters/exchange/exchanges.ts';
import { ulids } from '#adapters/ids.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { openJobStores } from '#adapters/open-stores.ts';
import { sha256 } from '#adapters/sha256.ts';
import { DataCollectionEnv } from '#contract/env/env.ts';
import { authenticateBy } from '#runtime/authenticate-by.ts';
import { withServiceTokens } from '#runtime/fixed-tokens.ts';
import { startProcess } from '#runtime/process.ts';
import { serve } from '#runtime/serve.ts';
import { createDataCollectionService } from '#runtime/services/data-collection.ts';

const { env, log } = startProcess(DataCollectionEnv, 'data-collection');

const stores = openMarketStores(env);
const service = createDataCollectionService(
  {
    ...stores,
    ...openJobStores(stores.dynamo, env.JOBS_TABLE),
    registry: openRegistry(env.REGISTRY_TABLE, env.DYNAMODB_ENDPOINT).registry,
    exchanges: openExchanges({
      url: env.EXCHANGE_URL,
      intervalMs: env.EXCHANGE_INTERVAL_MS,
      onRetry: (call) => log.warn('retrying exchange request', { ...call, error: call.error as Error }),
    }),
    defaultExchange: env.DEFAULT_EXCHANGE,
    clock: Date,
    ids: ulids,
    digest: sha256,
    // Files would have to be uploaded to the container.
    imports: null,
  },
  {
    log,
    cursorKey: storedCursorKey(stores.dynamo, 'series', env.SERIES_TABLE),
    audit: {
      trail: openAudit(env.REGISTRY_TABLE, env.DYNAMODB_ENDPOINT, env.RETENTION_AUDIT_DAYS),
      clock: Date,
      ids: ulids,
      originTokens: [env.ORIGIN_TOKEN, env.ORIGIN_TOKEN_2],
    },
    checkResponses: env.ENVIRONMENT !== 'production',
    authenticate: withServiceTokens(
      [env.SERVICE_TOKEN, env.SERVICE_TOKEN_2],
      authenticateBy('DATA_COLLECTION', env),
    ),
  },
);
// Listens on all addresses: clients use the container address from service discovery.
const server = await serve(service.app, { port: env.PORT, hostname: '0.0.0.0', log });
service.resume();
log.info('listening', { port: server.port });

// ECS kills 60 s after SIGTERM; requests end within 27 s and a collection after its current request, within 10 s.
process.once('SIGTERM', async () => {
  log.info('stopping');
  await Promise.all([server.close(), service.stop()]);
  process.exit(0);
});
