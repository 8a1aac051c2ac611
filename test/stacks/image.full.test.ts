import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build } from '../../bin/build/build.ts';
import { BASE, buildah, missingForImages } from './image-fixture.ts';

/** Builds the real Dockerfile without a registry. */
const IMAGE = 'localhost/touchstone-tasks-test';

const missing = missingForImages();

describe.skipIf(missing)(`task image (skipped without buildah and ${BASE})`, () => {
  const outdir = mkdtempSync(join(tmpdir(), 'touchstone-image-'));
  let container = '';

  beforeAll(async () => {
    await build(outdir);
    const built = buildah('bud', '--pull-never', '--format', 'docker', '-t', IMAGE, join(outdir, 'tasks'));
    expect(built.status, built.stderr).toBe(0);
    container = buildah('from', '--pull-never', IMAGE).stdout.trim();
  });
  afterAll(() => {
    buildah('rm', container);
    buildah('rmi', IMAGE);
    rmSync(outdir, { recursive: true, force: true });
  });

  const run = (...command: string[]) => buildah('run', container, '--', ...command);

  test('task image runs as a user who can write to /tmp only', () => {
    expect(run('id', '-u').stdout.trim()).toBe('1000');
    expect(run('sh', '-c', 'touch /app/x').status).not.toBe(0);
    expect(run('sh', '-c', 'touch /tmp/x').status).toBe(0);
  });

  test.each(['backtest', 'collect', 'data-collection', 'hyperopt'])('task image contains %s', (task) => {
    const { stderr } = run('node', `/app/${task}.mjs`);
    expect(stderr).toContain('The environment does not fit');
  });

  test('task image contains the bundle of worker threads', () => {
    expect(run('test', '-r', '/app/hyperopt-trial.mjs').status).toBe(0);
  });
});
