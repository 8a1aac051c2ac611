import { describe, expect, test } from 'vitest';
import { StageConfig, stageConfig } from '#lib/config.ts';

describe('stages', () => {
  test.each(['dev', 'test', 'prod'])('%s is valid', (name) => {
    expect(stageConfig(name).stage).toBe(name);
  });

  test.each(['production', '', 'toString'])('an unknown one names those that exist: %s', (name) => {
    expect(() => stageConfig(name)).toThrow(/Use -c stage=dev\|test\|prod/);
  });

  test('a misspelt setting is refused', () => {
    expect(() => StageConfig.parse({ ...stageConfig('dev'), protekt: true })).toThrow(/protekt/);
  });

  test('production is protected, closed and guarded', () => {
    expect(stageConfig('prod')).toMatchObject({
      authRequired: true,
      protect: true,
      network: 'isolated',
      firewall: true,
    });
  });
});
