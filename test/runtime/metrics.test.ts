import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { serviceMetrics } from '#runtime/metrics.ts';

afterEach(() => vi.unstubAllEnvs());

/** Dimension sets and values of a metric as the services emit it: the total of the stage, and a breakdown. */
function emitted() {
  const metrics = serviceMetrics('backend');
  metrics.addDimension('stage', 'production');
  metrics.addDimensions({ operation: 'list' });
  metrics.addMetric('Calls', MetricUnit.Count, 1);
  const { _aws, ...values } = metrics.serializeMetrics();
  return { sets: _aws.CloudWatchMetrics[0]!.Dimensions.map((set) => [...set].sort()), values };
}

describe('metrics of a service', () => {
  test('dimensions are service, stage and operation', () => {
    vi.stubEnv('TOUCHSTONE_INSTANCE', undefined);
    expect(emitted()).toEqual({
      sets: [
        ['service', 'stage'],
        ['operation', 'service'],
      ],
      values: { service: 'backend', stage: 'production', operation: 'list', Calls: 1 },
    });
  });

  test('each dimension set of a deployment with a name has it', () => {
    vi.stubEnv('TOUCHSTONE_INSTANCE', 'blue');
    const { sets, values } = emitted();
    expect(sets).toEqual([
      ['instance', 'service', 'stage'],
      ['instance', 'operation', 'service'],
    ]);
    expect(values).toMatchObject({ instance: 'blue', service: 'backend' });
    // Powertools has its own console on standard output, also for a metric that is published at once.
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const single = serviceMetrics('challenges').singleMetric();
    single.addDimension('stage', 'production');
    single.addMetric('Held', MetricUnit.Count, 1);
    const [[line]] = written.mock.calls as [[string]];
    written.mockRestore();
    expect(JSON.parse(line)).toMatchObject({ instance: 'blue', service: 'challenges' });
  });

  test('no other file of the services makes metrics', () => {
    const root = join(import.meta.dirname, '../..');
    const files = ['src', 'lambdas'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(folder, name)),
    );
    const making = files.filter((file) => readFileSync(join(root, file), 'utf8').includes('new Metrics('));
    expect(making).toEqual(['src/runtime/metrics.ts']);
  });
});
