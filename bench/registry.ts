import type { CatalogRow } from '#contract/registry/stored-registry.ts';
import type { PlatformInfo } from '../src/local/platform-info.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { storeCatalogRows } from './support/catalog-rows.ts';
import { requestMeasurements, withPlatform } from './support/local-platform.ts';
import { time, timesOf } from './support/measure.ts';
import { scaled } from './support/quick.ts';
import { RegistryClient } from './support/registry-client.ts';

const MODEL = 'buy_and_hold';
const VERSIONS = scaled(60, 2);
const READS = scaled(60, 2);
const WARM_UPS = scaled(10);
const CATALOG_ROWS = scaled(10_000, 200);

/** Table name of src/local/platform.ts. */
const REGISTRY_TABLE = 'Registry';

/** Registers, stages and promotes each version, then rolls back to the previous one. No task runs at the same time. */
async function transitionTimes(client: RegistryClient, runId: string): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = {};
  const measured = async (label: string, run: number, work: () => Promise<unknown>) => {
    const ms = await time(work);
    if (run >= 0) times[label] = [...(times[label] ?? []), ms];
  };
  const registration = { backtest_run_id: runId, container_image_uri: 'touchstone:1' };
  for (let run = -WARM_UPS; run < VERSIONS; run++) {
    const version = String(run + WARM_UPS + 1);
    const on = { version };
    await measured('register', run, () =>
      client.post(`strategies/${MODEL}/register`, registration, 'strategy'),
    );
    await measured('stage: validation only', run, () =>
      client.post(`strategies/${MODEL}/stage`, { ...on, validate_only: true }),
    );
    await measured('stage: the transition', run, () =>
      client.post(`strategies/${MODEL}/stage`, { ...on, skip_validation: true }),
    );
    await measured('promote', run, () => client.post(`strategies/${MODEL}/promote`, on));
    if (version === '1') continue;
    const previous = { version: String(Number(version) - 1), reason: 'measured' };
    await measured('rollback', run, () => client.post(`models/${MODEL}/rollback`, previous));
  }
  return times;
}

const readTimes = (read: () => Promise<unknown>) => timesOf(read, READS, WARM_UPS);

async function catalogMeasurements(client: RegistryClient, platform: PlatformInfo): Promise<Measurement[]> {
  const { items } = await client.get<{ items: CatalogRow[] }>('catalog/strategies');
  const target = { endpoint: platform.storage.DYNAMODB_ENDPOINT, table: REGISTRY_TABLE };
  await storeCatalogRows(target, items[0]!, CATALOG_ROWS);
  const page = (query: string) => () => client.get(`catalog/strategies?limit=100&${query}`);
  const of = `of ${CATALOG_ROWS.toLocaleString('en-US')}`;
  return [
    ...requestMeasurements(`catalog page of 100 ${of}`, await readTimes(page('sort_field=name'))),
    ...requestMeasurements(
      `the same by Sharpe ratio`,
      await readTimes(page('sort_field=sharpe&sort_order=desc')),
    ),
  ];
}

export default {
  name: 'registry',
  description:
    'Registry requests over loopback to the local platform: one after the other, from another process',
  run: () =>
    withPlatform(async (platform) => {
      const client = new RegistryClient(platform);
      const transitions = await transitionTimes(client, await client.backtest(MODEL));
      const versions = await readTimes(() => client.get(`models/${MODEL}/versions`));
      const compared = await readTimes(() =>
        client.get(`catalog/strategies/${MODEL}/compare?version_a=champion&version_b=latest`),
      );
      return [
        ...Object.entries(transitions).flatMap(([label, times]) => requestMeasurements(label, times)),
        ...requestMeasurements(`versions, all ${VERSIONS + WARM_UPS}`, versions),
        ...requestMeasurements('compare', compared),
        ...(await catalogMeasurements(client, platform)),
      ];
    }),
} satisfies Bench;
