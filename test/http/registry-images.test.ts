import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkImageRuns } from '#domain/registry/container-image.ts';
import { stagingChecks } from '#domain/registry/start-staging-checks.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { MODEL, registryFixture } from '../support/registry-fixture.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine?.stop());

const DIGEST = `sha256:${'ab'.repeat(32)}`;

test('stage with a public network registers an image and rejects the staging that would run it', async () => {
  // The image is checked before anything is read.
  const checks = stagingChecks({ rejectImages: true } as Parameters<typeof stagingChecks>[0]);
  const fixture = await registryFixture(engine, {
    deps: { images: { digestOf: async () => DIGEST }, stagingChecks: checks },
  });
  expect((await fixture.register()).status).toBe(201);
  const { status, body } = await fixture.stage(1);
  expect([status, body.detail.code, body.detail.field]).toEqual([400, 'VAL005', 'version']);
  expect(body.detail.message).toMatch(/set network to isolated, or allowForeignImages to true$/);
  expect(body.detail.context.value).toContain(`@${DIGEST}`);
  const versions = await fixture.get(`/api/v1/models/${MODEL}/versions`);
  expect(versions.body.versions[0].stage).toBe('None');
});

test('image runs unless the setting rejects it, and the platform’s own image always', () => {
  expect(checkImageRuns({}, 'x@sha256:1', 'model_version')).toBe('x@sha256:1');
  expect(checkImageRuns({ rejectImages: true }, null, 'model_version')).toBeNull();
  expect(() => checkImageRuns({ rejectImages: true }, 'x@sha256:1', 'model_version')).toThrow(
    /this stage runs none/,
  );
});
