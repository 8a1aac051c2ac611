import { afterAll, beforeAll } from 'vitest';
import type { ReleasePolicy } from '#contract/registry/release-policy.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { byRole } from '../support/policy-fixture.ts';
import {
  type FixtureOptions,
  MODEL,
  type RegistryFixture,
  registryFixture,
} from '../support/registry-fixture.ts';

/** End of the 31 days of candles of every backtest in these tests. */
export const END = Date.parse('2025-02-01T00:00:00Z');
const NOTHING: ReleasePolicy = { lookAheadCertificate: false };

export const clockAt = (time: number) => ({ now: () => time });

type Checks = readonly {
  name: string;
  status: string;
  value: unknown;
  threshold: unknown;
  message: string;
}[];
export const statuses = (checks: Checks) =>
  Object.fromEntries(checks.map(({ name, status }) => [name, status]));
export const checkOf = (checks: Checks, name: string) => checks.find((check) => check.name === name);

export async function historyOf(fixture: RegistryFixture) {
  return (await fixture.get(`/api/v1/models/${MODEL}/history`)).body.items;
}
export const versionOf = async (fixture: RegistryFixture, version = '1') =>
  (await fixture.get(`/api/v1/models/${MODEL}/versions/${version}`)).body;

/** Registries with a release policy, on an engine that the tests of a file share. */
export function releasePolicyFixtures() {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(() => engine?.stop());
  return (policy: Partial<ReleasePolicy>, options: FixtureOptions = {}) =>
    registryFixture(engine, {
      ...options,
      service: byRole,
      deps: { clock: clockAt(END), releasePolicy: { ...NOTHING, ...policy }, ...options.deps },
    });
}
