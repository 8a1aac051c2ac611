import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { afterAll, describe, expect, test } from 'vitest';
import { checkDeployable, STAGE_NAMES, stageConfig } from '#lib/settings/config.ts';
import { readStageConfig } from '#lib/settings/settings-file.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXAMPLE = join(ROOT, 'docs/examples/three-accounts.json');
const folder = mkdtempSync(join(tmpdir(), 'touchstone-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(content: unknown): string {
  const file = join(folder, 'settings.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const dev = (changes: unknown) => fileOf({ stages: { dev: changes } });

function problems(file: string): string[] {
  try {
    readStageConfig('dev', file);
  } catch (error) {
    return (error as Error).message.split('\n');
  }
  return [];
}

const ajv = new Ajv2020({ allowUnionTypes: true });
formats.default(ajv);
const schema = JSON.parse(readFileSync(join(ROOT, 'touchstone.config.schema.json'), 'utf8'));
const isValid = ajv.compile(schema);

describe('settings file', () => {
  test.each([
    ['no receiver', {}],
    ['no alarms', { alarms: false, canary: false, trafficShift: false }],
  ])('prod with %s is not synthesized, and the message says what to write', (_, changes) => {
    const env = { account: '111122223333', region: 'eu-central-1' };
    const stage = (more: object) => readStageConfig('prod', fileOf({ stages: { prod: { env, ...more } } }));
    expect(() => checkDeployable(stage(changes))).toThrow(
      'stages.prod.alarmEmail is missing: prod needs alarms and somebody to notify. Write an address, such as "desk@example.com", or alarmTopicArn with the ARN of an SNS topic',
    );
    const alarmTopicArn = 'arn:aws:sns:eu-central-1:111122223333:desk';
    for (const receiver of [{ alarmEmail: 'desk@example.com' }, { alarmTopicArn }]) {
      expect(() => checkDeployable(stage(receiver))).not.toThrow();
    }
  });

  test('stage without a section has its defaults', () => {
    for (const content of [{}, { stages: {} }, { stages: { prod: { logLevel: 'ERROR' } } }]) {
      expect(readStageConfig('dev', fileOf(content))).toEqual(stageConfig('dev'));
    }
  });

  test('file may begin with a byte order mark', () => {
    const file = fileOf('\uFEFF{"stages": {"dev": {"logLevel": "WARN"}}}');
    expect(readStageConfig('dev', file).logLevel).toBe('WARN');
  });

  /** Every part of a value as a patch that says only this part again. Of an object also the empty one. */
  function* partsOf(value: unknown): Generator<unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      if (value !== undefined) yield value;
      return;
    }
    yield {};
    for (const [key, inner] of Object.entries(value)) {
      for (const part of partsOf(inner)) yield { [key]: part };
    }
  }

  test.each(STAGE_NAMES)('every default of %s survives any file that sets a part of it', (stage) => {
    const { stage: _, ...defaults } = stageConfig(stage);
    // The kind of identity names its whole section: without it the file is rejected.
    const parts = [...partsOf(defaults)]
      .map((part) => JSON.stringify(part))
      .filter((text) => !text.includes('"identity"') || text.includes('"kind"'))
      .map((text) => JSON.parse(text) as unknown);
    expect(parts.length).toBeGreaterThan(50);
    for (const part of parts) {
      const merged = readStageConfig(stage, fileOf({ stages: { [stage]: part } }));
      expect(merged, JSON.stringify(part)).toEqual({ ...defaults, stage });
    }
  });

  test('one value of a part changes this value only', () => {
    const file = fileOf({ stages: { prod: { trafficShift: { minutes: 7 }, retention: { trials: 30 } } } });
    const { trafficShift, retention } = readStageConfig('prod', file);
    expect(trafficShift).toEqual({ percent: 10, minutes: 7 });
    expect(retention).toEqual({ ...stageConfig('prod').retention, trials: 30 });
  });

  test('section merges objects, replaces lists and removes by null', () => {
    const file = fileOf({
      stages: {
        prod: { maxRunning: { backtest: 7 }, trustedCallers: ['111122223333'], liveViewers: null },
      },
    });
    const { maxRunning, trustedCallers, liveViewers } = readStageConfig('prod', file);
    expect({ maxRunning, trustedCallers, liveViewers }).toEqual({
      maxRunning: { ...stageConfig('prod').maxRunning, backtest: 7 },
      trustedCallers: ['111122223333'],
      liveViewers: undefined,
    });
  });

  test('null removes one threshold of the release policy', () => {
    const file = fileOf({ stages: { prod: { releasePolicy: { minDays: null } } } });
    const { minDays, ...others } = stageConfig('prod').releasePolicy;
    expect(minDays).toBeGreaterThan(0);
    expect(readStageConfig('prod', file).releasePolicy).toEqual(others);
  });

  test.each<[string, unknown, string]>([
    ['maxRuning', {}, 'stages.dev.maxRuning is not a setting: did you mean maxRunning?'],
    [
      'maxRunning',
      { hyperopts: 2 },
      'stages.dev.maxRunning.hyperopts is not a setting: did you mean hyperopt?',
    ],
    ['maxRunning', { backtest: 0 }, 'stages.dev.maxRunning.backtest is 0: write at least 1'],
    [
      'tags',
      { Stage: '1' },
      'stages.dev.tags.Stage is "1": the name is not valid: write up to 128 letters, digits, spaces and _.:/=+-@, without aws: first; service, stage and instance are set already',
    ],
    ['maxRunning', { backtest: '6' }, 'stages.dev.maxRunning.backtest is "6": write an integer'],
    ['maxRunning', { backtest: 20_000 }, 'stages.dev.maxRunning.backtest is 20000: write at most 10000'],
    [
      'backtestTask',
      { cpu: 1000 },
      'stages.dev.backtestTask.cpu is 1000: write 512 or 1024 or 2048 or 4096 or 8192 or 16384',
    ],
    [
      'hyperoptTask',
      { cpu: 8192, memoryMiB: 18_432 },
      'stages.dev.hyperoptTask.memoryMiB is 18432, which Fargate does not offer with cpu 8192: write 16384 to 61440 in steps of 4096',
    ],
    ['logLevel', 'debug', 'stages.dev.logLevel is "debug": did you mean "DEBUG"?'],
    ['logRetentionDays', 15, 'stages.dev.logRetentionDays is 15: write 14 or 30 or 90 or 365'],
    ['firewall', 'yes', 'stages.dev.firewall is "yes": write true or false'],
    ['namespace', '', 'stages.dev.namespace is "": write a DNS name such as "touchstone.internal"'],
    [
      'namespace',
      'desk b*',
      'stages.dev.namespace is "desk b*": write a DNS name such as "touchstone.internal"',
    ],
    ['tags', { Desk: 'a', desk: 'b' }, 'stages.dev.tags have "desk" twice, in another case: keep one'],
    ['tags', { ' ': 'a' }, 'stages.dev.tags have a blank name: write one with letters or digits'],
    [
      'tags',
      Object.fromEntries(Array.from({ length: 41 }, (_, index) => [`tag${index}`, ''])),
      'stages.dev.tags are more than 40: remove some',
    ],
    ['protect', null, 'stages.dev.protect is null: write true or false'],
    ['env', { account: 1, region: 'eu-central-1' }, 'stages.dev.env.account is 1: write a string'],
    ['env', { account: '111122223333' }, 'stages.dev.env.region is missing: write a string'],
    [
      'trustedCallers',
      ['111122223333', '*'],
      'stages.dev.trustedCallers[1] is "*": write the 12 digits of an account or the ARN of a role, in quotes',
    ],
    ['identity', { kind: 'owns' }, 'stages.dev.identity.kind is "owns": did you mean "own"?'],
    ['rateLimits', true, 'stages.dev.rateLimits are rules of the firewall: set it too'],
  ])('%s %j is rejected with its path and what to write', (key, value, line) => {
    expect(problems(dev({ [key]: value })).slice(1)).toEqual([line]);
  });

  test('unknown top-level key is rejected with the nearest name', () => {
    expect(problems(fileOf({ stage: {} }))).toContain('stage is not a setting: did you mean stages?');
  });

  test('name far from all others is rejected with the known names', () => {
    expect(problems(fileOf({ stages: { production: {} } }))).toContain(
      'stages.production is not a setting. Known: dev, test, prod',
    );
  });

  test('every problem of every section is listed', () => {
    const lines = problems(fileOf({ stages: { dev: { protect: 1 }, prod: { logLevel: 'x', alarms: 2 } } }));
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      fileOf('{}'),
      'stages.dev.protect',
      'stages.prod.alarms',
      'stages.prod.logLevel',
    ]);
  });

  test.each([
    ['[1}', /not JSON: .*line 1 column 3/],
    ['[]', /the file is \[\]: write an object/],
    ['{"__proto__": {}}', /__proto__ is not a setting/],
  ])('content %s is rejected', (content, message) => {
    expect(problems(fileOf(content)).join('\n')).toMatch(message);
  });

  test('missing file that was named is rejected', () => {
    expect(problems(join(folder, 'none.json'))).toEqual([
      expect.stringMatching(/none\.json cannot be read: the file does not exist/),
    ]);
  });

  test('prod without an account is rejected with what to write; the example has all accounts', () => {
    expect(() => checkDeployable(readStageConfig('prod', fileOf({})))).toThrow(
      /^stages\.prod\.env is missing: write the account and region of prod/,
    );
    for (const stage of STAGE_NAMES) {
      const config = readStageConfig(stage, EXAMPLE);
      expect(() => checkDeployable(config)).not.toThrow();
      expect(config.env?.account).toMatch(/^\d{12}$/);
    }
  });

  test('app prints wrong settings without a stack trace and exits with 1', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'bin/app.ts')], {
      encoding: 'utf8',
      env: {
        ...process.env,
        CDK_CONTEXT_JSON: JSON.stringify({ stage: 'dev', config: dev({ alarm: true }) }),
      },
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(
        /^.*settings\.json has wrong settings:\nstages\.dev\.alarm is not a setting: did you mean alarms\?\n$/,
      ),
    });
  });
});

describe('touchstone.config.schema.json', () => {
  test('file of this checkout and example of docs/deploy.md match the schema and the app', () => {
    const page = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8');
    const examples = [...page.matchAll(/^```json\n(\{\n {2}"\$schema"[\s\S]*?)^```/gm)].map(
      ([, text]) => text!,
    );
    expect(examples.length).toBeGreaterThan(0);
    const files = [join(ROOT, 'touchstone.config.json'), EXAMPLE].map((file) => readFileSync(file, 'utf8'));
    for (const text of [...files, ...examples]) {
      expect(isValid(JSON.parse(text)), ajv.errorsText(isValid.errors)).toBe(true);
      expect(() => readStageConfig('prod', fileOf(text))).not.toThrow();
    }
  });

  test.each([
    { stages: { dev: { maxRuning: {} } } },
    { stages: { dev: { firewall: 'yes' } } },
    { stage: {} },
  ])('schema rejects %j', (content) => {
    expect(isValid(content)).toBe(false);
  });

  test('schema describes every setting', () => {
    const { properties } = schema.$defs.StageSettings;
    expect(Object.keys(properties).length).toBeGreaterThan(25);
    for (const [name, property] of Object.entries<{ description?: string }>(properties)) {
      expect(property.description, name).toMatch(/^\w.*\.$/);
    }
  });
});
