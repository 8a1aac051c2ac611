import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type CostReport, costReport, costText } from '#lib/cost/report.ts';
import type { Resource, Resources } from '#lib/cost/templates.ts';
import { type Definition, statesOf } from '#lib/cost/transitions.ts';
import { templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

/** Prices of us-east-1 as AWS publishes them, and hours of a month: independent of lib/cost/prices.json. */
const HOURS = 730;
const VCPU_HOUR = 0.03238;
const GB_HOUR = 0.00356;
const SPOT = 0.3;
const ADDRESS_HOUR = 0.005;
const TRANSITION = 25e-6;

const stages = {
  dev: templatesOf('dev').resources,
  test: synthesize('test', {}).resources,
  prod: templatesOf('prod').resources,
};
const reports = Object.entries(stages).map(([stage, resources]) => costReport(stage, resources));
const [dev, , prod] = reports as [CostReport, CostReport, CostReport];

const idleOf = ({ idle }: CostReport, item: string) => idle.items.find((each) => each.item === item)?.usd;
const laneOf = ({ lanes }: CostReport, name: string) => lanes.find((lane) => lane.name === name)!;
const partOf = (report: CostReport, lane: string, part: string) =>
  laneOf(report, lane).parts.find(({ item }) => item === part)!.usd;

describe('idle cost', () => {
  test('idle cost of dev is below 15.50 USD per month', () => {
    expect(dev.idle.usd).toBeLessThan(15.5);
  });

  test.each(reports)('idle items of $stage add up to the sum', ({ idle }) => {
    expect(idle.items.reduce((sum, { usd }) => sum + usd, 0)).toBeCloseTo(idle.usd, 9);
  });

  test('data collection costs its vCPU and memory hours', () => {
    const onDemand = HOURS * (0.25 * VCPU_HOUR + 1 * GB_HOUR);
    expect(idleOf(prod, 'Data collection')).toBeCloseTo(onDemand, 6);
    expect(idleOf(dev, 'Data collection on Spot')).toBeCloseTo(onDemand * SPOT, 6);
    for (const report of reports) {
      expect(idleOf(report, 'Public address of data collection')).toBeCloseTo(HOURS * ADDRESS_HOUR, 6);
    }
  });

  test('only prod pays for endpoints, the firewall and Container Insights', () => {
    // Three endpoints in two zones; two web ACLs with two rule groups each.
    expect(idleOf(prod, 'Endpoints of the isolated network')).toBeCloseTo(3 * 2 * HOURS * 0.01, 6);
    expect(idleOf(prod, 'Firewall')).toBeCloseTo(2 * (5 + 2 * 1), 6);
    expect(idleOf(prod, 'Container Insights')).toBeCloseTo(25 * 0.3, 6);
    for (const item of ['Endpoints of the isolated network', 'Firewall', 'Container Insights', 'Alarms']) {
      expect(idleOf(dev, item), item).toBeUndefined();
    }
  });

  test('alarms cost each metric that they read', () => {
    const alarms = [...stages.prod.values()].filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm');
    const metrics = alarms.flatMap(({ Properties }) =>
      // An alarm on an expression lists its metrics with the expression; any other has one.
      (Properties.Metrics ?? [{ MetricStat: {} }]).filter((each: object) => 'MetricStat' in each),
    );
    expect(metrics.length).toBeGreaterThan(alarms.length);
    expect(idleOf(prod, 'Alarms')).toBeCloseTo(metrics.length * 0.1, 6);
  });
});

describe('cost per 1,000 backtests', () => {
  test('task of a backtest costs a minute on its capacity', () => {
    const hours = (1000 * 60) / 3600;
    const onDemand = hours * (VCPU_HOUR + 4 * GB_HOUR);
    expect(partOf(prod, 'Backtest on demand', 'Tasks')).toBeCloseTo(onDemand, 6);
    expect(partOf(prod, 'Backtest on Spot', 'Tasks')).toBeCloseTo(onDemand * SPOT, 6);
    // In dev the task has a public address.
    expect(partOf(dev, 'Backtest on Spot', 'Tasks')).toBeCloseTo(onDemand * SPOT + hours * ADDRESS_HOUR, 6);
  });

  test('function of a backtest costs its seconds, and less than a tenth of a task', () => {
    const gbSeconds = 1000 * 1.5 * (1769 / 1024);
    const expected = gbSeconds * 0.0000133334 + 1000 * 0.2e-6;
    expect(partOf(prod, 'Backtest in a function', 'Tasks')).toBeCloseTo(expected, 4);
    expect(expected * 10).toBeLessThan(partOf(prod, 'Backtest on demand', 'Tasks'));
    const collected = partOf(prod, 'Backtest in a function, candles collected first', 'Tasks');
    expect(collected).toBeGreaterThan(expected);
    expect(collected).toBeLessThan(partOf(prod, 'Backtest on Spot, candles collected first', 'Tasks'));
  });

  test('registered image costs three functions and their transitions more than the platform image', () => {
    const [image, own] = ['Backtest of a registered image on Spot', 'Backtest on Spot'] as const;
    // PrepareImage, PrepareImageRun, UseRegisteredImage and RecordImageRun instead of UsePlatformImage.
    expect(partOf(prod, image, 'Workflow')).toBeCloseTo(partOf(prod, own, 'Workflow') + 3000 * TRANSITION, 6);
    expect(partOf(prod, image, 'Tasks')).toBeGreaterThan(partOf(prod, own, 'Tasks') + 3000 * 0.2e-6);
    expect(partOf(prod, image, 'Objects')).toBeGreaterThan(partOf(prod, own, 'Objects'));
  });

  test('longer tasks cost more, in proportion', () => {
    const five = costReport('prod', stages.prod, 300);
    expect(partOf(five, 'Backtest on Spot', 'Tasks')).toBeCloseTo(
      5 * partOf(prod, 'Backtest on Spot', 'Tasks'),
      9,
    );
  });

  test('workflow costs the transitions of its path and one call of the data proxy', () => {
    // ChooseCollection, CheckFreshness, IsFresh, ChooseImage, UsePlatformImage, ChooseCapacity, RunBacktest, ChooseRecording, Done;
    // start and end.
    const fresh = 1000 * (11 * TRANSITION + 0.2e-6 + 0.5 * 0.3 * 0.0000133334);
    expect(partOf(prod, 'Backtest on Spot', 'Workflow')).toBeCloseTo(fresh, 6);
    expect(partOf(prod, 'Backtest on Spot, candles collected first', 'Workflow')).toBeCloseTo(
      fresh + 1000 * TRANSITION,
      6,
    );
  });

  test('1,000 trials on one worker cost a start and a second per trial and vCPU', () => {
    const hours = (60 + 1000 / 4) / 3600;
    const usd = hours * SPOT * (4 * VCPU_HOUR + 16 * GB_HOUR);
    expect(partOf(prod, 'Trial of a hyperopt job, one worker on Spot', 'Tasks')).toBeCloseTo(usd, 6);
  });
});

describe('cost per 1,000 visits of the dashboard', () => {
  const VISITS = ['Visit of the dashboard, 10 minutes', 'Visit of the dashboard while jobs run'] as const;

  test('CloudFront costs each request with its function, and what it sends', () => {
    const usd = 1000 * 120 * (1e-6 + 0.1e-6) + 1000 * 1e-3 * 0.085;
    for (const name of VISITS) expect(partOf(prod, name, 'CloudFront')).toBeCloseTo(usd, 6);
    expect(partOf(prod, 'Backtest on Spot', 'CloudFront')).toBe(0);
  });

  test('stream costs its function for as long as it is open', () => {
    const [still, moving] = VISITS.map((name) => partOf(prod, name, 'API')) as [number, number];
    expect(moving - still).toBeCloseTo(1000 * 600 * 0.25 * 0.0000133334, 6);
  });

  test('stage without a dashboard has no visits, and its canary loads none', () => {
    const without = new Map(
      [...stages.prod].filter(([, { Type }]) => Type !== 'AWS::CloudFront::Distribution'),
    );
    const { lanes, idle } = costReport('prod', without);
    expect(lanes.filter(({ name }) => name.startsWith('Visit'))).toEqual([]);
    const runs = HOURS * 12;
    const loaded = runs * (3 * 1.1e-6 + 1e-4 * 0.085 + 3.5e-6 + 0.2e-6);
    expect(prod.idle.usd - idle.usd).toBeCloseTo(loaded, 6);
  });
});

describe('resources without a price', () => {
  const withResource = (resource: Resource): Resources => new Map([...stages.dev, ['Extra', resource]]);

  test('resource type without a price is rejected by its name', () => {
    const resources = withResource({ Type: 'AWS::RDS::DBInstance' });
    expect(() => costReport('dev', resources)).toThrow(
      /^Resource types without a price: AWS::RDS::DBInstance/,
    );
  });

  test.each<[string, Resource]>([
    [
      'provisioned capacity',
      { Type: 'AWS::DynamoDB::GlobalTable', Properties: { BillingMode: 'PROVISIONED' } },
    ],
    [
      'Provisioned concurrency',
      { Type: 'AWS::Lambda::Alias', Properties: { ProvisionedConcurrencyConfig: {} } },
    ],
    ['cron', { Type: 'AWS::Events::Rule', Properties: { ScheduleExpression: 'cron(0 0 * * ? *)' } }],
  ])('%s is rejected', (message, resource) => {
    expect(() => costReport('dev', withResource(resource))).toThrow(message);
  });
});

test('a function that a queue calls every minute adds its polling and its runs', () => {
  const functionId = [...stages.dev].find(([, { Type }]) => Type === 'AWS::Lambda::Function')![0];
  const { MemorySize } = stages.dev.get(functionId)!.Properties;
  const queue = { 'Fn::GetAtt': ['Waiting', 'Arn'] };
  const resources = new Map<string, Resource>([
    ...stages.dev,
    ['Waiting', { Type: 'AWS::SQS::Queue', Properties: {} }],
    [
      'EveryMinute',
      {
        Type: 'AWS::Events::Rule',
        Properties: { ScheduleExpression: 'rate(1 minute)', Targets: [{ Arn: queue }] },
      },
    ],
    [
      'Reader',
      {
        Type: 'AWS::Lambda::EventSourceMapping',
        // An alias by its name, as CDK writes it.
        Properties: {
          EventSourceArn: queue,
          FunctionName: {
            'Fn::Join': ['', [{ 'Fn::Select': [6, { 'Fn::Split': [':', { Ref: functionId }] }] }, ':live']],
          },
        },
      },
    ],
  ]);
  const report = costReport('dev', resources);
  const polls = 5 * 3 * 60 * HOURS;
  expect((idleOf(report, 'Queue polling') ?? 0) - (idleOf(dev, 'Queue polling') ?? 0)).toBeCloseTo(
    polls * 0.4e-6,
    6,
  );
  const run = 3 * 0.4e-6 + 0.2e-6 + (MemorySize / 1024) * 0.2 * 0.0000133334 + 10 * 0.125e-6 + 0.5e-6 + 5e-6;
  expect(idleOf(report, 'Scheduled functions')! - idleOf(dev, 'Scheduled functions')!).toBeCloseTo(
    60 * HOURS * run,
    6,
  );
});

describe('path of an execution', () => {
  const definition: Definition = {
    StartAt: 'Choose',
    States: {
      Choose: { Type: 'Choice', Choices: [{ Next: 'A' }], Default: 'B' },
      A: { Type: 'Pass', Next: 'B' },
      B: { Type: 'Succeed' },
    },
  };

  test('path takes the default branch unless another is named', () => {
    expect(statesOf(definition, {})).toHaveLength(2);
    expect(statesOf(definition, { Choose: 'A' })).toHaveLength(3);
  });

  test('path to a branch that does not exist is rejected', () => {
    expect(() => statesOf(definition, { Choose: 'C' })).toThrow('Choose has no branch to C');
  });
});

test.each([
  [['--stage', 'production'], 'Unknown stage "production". Use --stage dev|test|prod'],
  [['--seconds', '5'], '--seconds is "5". Pass a number of at least 60'],
])('command with %j exits with 1 and says what to do', (args, message) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/operate/cost.ts', ...args], {
    cwd: new URL('../..', import.meta.url),
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('    at ');
});

test.each(reports)('docs/cost.md has the output of $stage', (report) => {
  const text = readFileSync(new URL('../../docs/cost.md', import.meta.url), 'utf8');
  const [, output] = new RegExp(`## ${report.stage}\n\n\`\`\`text\n([^\`]*)\`\`\``).exec(text) ?? [];
  expect(output, 'run: npm run cost -- --update').toBe(costText(report));
});

test('docs/deploy.md states the idle sums of docs/cost.md', () => {
  const text = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
  const [, ...sums] = /\| \*\*Sum\*\* \| \*\*(\d+)\*\* \| \*\*(\d+)\*\* \| \*\*(\d+)\*\* \|/.exec(text) ?? [];
  expect(sums).toEqual(reports.map(({ idle }) => idle.usd.toFixed(0)));
});
