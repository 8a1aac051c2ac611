import { describe, expect, test } from 'vitest';
import { releasePolicy, releasePolicyOf } from '#contract/env/release-policy-env.ts';
import { SANDBOX_FLAGS } from '#contract/values/sandbox-flags.ts';
import { stageConfig } from '#lib/settings/config.ts';
import { readEnv } from '#runtime/env.ts';
import { ofType, type Resource, type Synthesized, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const dev = templatesOf('dev');
const prod = templatesOf('prod');

const properties = (stage: Synthesized, type: string) =>
  ofType(stage, type).map(([, each]) => each.Properties);
const logGroupOf = (stage: Synthesized, reference: { Ref: string }) =>
  stage.resources.get(reference.Ref) as Resource;

describe.each([dev, prod])('functions of $config.stage', (stage) => {
  const functions = ofType(stage, 'AWS::Lambda::Function');

  const count = stage.config.canary ? 16 : 15;

  test("functions are the platform's fifteen and the canary, without any that CDK adds", () => {
    const descriptions = functions.map(([, each]) => each.Properties.Description);
    expect(descriptions.every((text) => text.startsWith(`Touchstone ${stage.config.stage}:`))).toBe(true);
    expect(functions).toHaveLength(count);
  });

  test('functions run Node 24 on ARM with tracing', () => {
    for (const [id, { Properties }] of functions) {
      expect(Properties.Runtime).toBe('nodejs24.x');
      expect(Properties.Architectures).toEqual(['arm64']);
      expect(Properties.TracingConfig).toEqual({ Mode: 'Active' });
      if (!id.startsWith('FastLane')) expect(Properties.Handler).toBe('index.handler');
    }
  });

  test('functions write JSON into their own log with a retention', () => {
    for (const [, { Properties }] of functions) {
      expect(Properties.LoggingConfig.LogFormat).toBe('JSON');
      const log = logGroupOf(stage, Properties.LoggingConfig.LogGroup);
      expect(log.Properties.RetentionInDays).toBe(stage.config.logRetentionDays);
    }
  });

  test.each([
    // A version of a deployment that failed is deleted, so that the deployment can be repeated.
    ['AWS::Lambda::Version', 'RetainExceptOnCreate'],
    // An execution that began during a deployment that failed starts its revision later.
    ['AWS::ECS::TaskDefinition', 'Retain'],
  ])('earlier %ss outlive a deployment', (type, policy) => {
    const found = ofType(stage, type);
    expect(found.length).toBeGreaterThanOrEqual(4);
    for (const [id, each] of found) {
      expect([each.UpdateReplacePolicy, each.DeletionPolicy], id).toEqual(['Retain', policy]);
    }
  });

  test('functions have the alias live', () => {
    const aliases = properties(stage, 'AWS::Lambda::Alias');
    expect(aliases.map(({ Name }) => Name)).toEqual(Array(count).fill('live'));
    expect(new Set(aliases.map(({ FunctionName }) => FunctionName.Ref))).toEqual(
      new Set(functions.map(([id]) => id)),
    );
  });

  test("functions have time limits below their callers'", () => {
    const limits = Object.fromEntries(
      functions.map(([id, each]) => [id.replace(/[A-F0-9]{8}$/, ''), each.Properties]),
    );
    expect(limits.BackendFunction).toMatchObject({ Timeout: 28, MemorySize: 1024 });
    expect(limits.StrategyServiceFunction).toMatchObject({ Timeout: 28, MemorySize: 1024 });
    expect(limits.DataProxyServiceFunction).toMatchObject({ Timeout: 60, MemorySize: 512 });
    // The state machine waits one second longer for each.
    expect(limits.ImageRunServiceFunction).toMatchObject({ Timeout: 300 });
    expect(limits.TaskImageServiceFunction).toMatchObject({ Timeout: 29 });
    // The maximum duration of a stream in API Gateway.
    expect(limits.JobEventsFunction).toMatchObject({ Timeout: 900, MemorySize: 256 });
    expect(limits.StrategyEventsFunction).toMatchObject({ Timeout: 900, MemorySize: 256 });
    expect(limits.RepairServiceFunction!.Timeout).toBeLessThan(300);
  });
});

describe.each([dev, prod])('tasks of $config.stage', (stage) => {
  const definitions = properties(stage, 'AWS::ECS::TaskDefinition');
  const containers = definitions.map((each) => each.ContainerDefinitions[0]);

  test('tasks run on ARM from one image', () => {
    for (const { RuntimePlatform } of definitions) {
      expect(RuntimePlatform).toEqual({ CpuArchitecture: 'ARM64', OperatingSystemFamily: 'LINUX' });
    }
    expect(containers.map(({ Command }) => Command.at(-1)).sort()).toEqual([
      '/app/backtest.mjs',
      '/app/collect.mjs',
      '/app/data-collection.mjs',
      '/app/hyperopt.mjs',
      '/app/image-backtest.mjs',
    ]);
    expect(new Set(containers.map(({ Image }) => JSON.stringify(Image))).size).toBe(1);
  });

  test('tasks that run strategies or judge trials start with fixed flags and built-in objects', () => {
    const flagged = containers.filter(({ Command }) => Command.length > 1);
    expect(flagged.map(({ Command }) => Command).sort()).toEqual([
      [...SANDBOX_FLAGS, '/app/backtest.mjs'],
      [...SANDBOX_FLAGS, '/app/hyperopt.mjs'],
    ]);
  });

  test("tasks have the size of the stage's configuration", () => {
    const sizes = Object.fromEntries(
      definitions.map(({ Cpu, Memory, ContainerDefinitions: [{ Command }] }) => [
        Command.at(-1),
        { cpu: Number(Cpu), memoryMiB: Number(Memory) },
      ]),
    );
    expect(sizes['/app/backtest.mjs']).toEqual(stage.config.backtestTask);
    expect(sizes['/app/hyperopt.mjs']).toEqual(stage.config.hyperoptTask);
  });

  test('tasks can write only to /tmp and have 60 s to stop', () => {
    for (const container of containers) {
      expect(container.Name).toBe('task');
      expect(container.ReadonlyRootFilesystem).toBe(true);
      expect(container.MountPoints).toEqual([
        { ContainerPath: '/tmp', ReadOnly: false, SourceVolume: 'tmp' },
      ]);
      expect(container.StopTimeout).toBe(60);
    }
  });

  test('tasks log without blocking, with a retention', () => {
    for (const { LogConfiguration } of containers) {
      expect(LogConfiguration.Options.mode).toBe('non-blocking');
      const log = logGroupOf(stage, LogConfiguration.Options['awslogs-group']);
      expect(log.Properties.RetentionInDays).toBe(stage.config.logRetentionDays);
    }
  });
});

describe('environments', () => {
  test.each([dev, prod])(
    'environments of $config.stage contain no account IDs, and secrets by reference',
    (stage) => {
      const variables = [
        ...properties(stage, 'AWS::Lambda::Function').map((each) => each.Environment.Variables),
        ...properties(stage, 'AWS::ECS::TaskDefinition').map(
          (each) => each.ContainerDefinitions[0].Environment,
        ),
      ];
      expect(variables).toHaveLength(stage.config.canary ? 21 : 20);
      const valuesOf = (name: string) =>
        variables.flatMap((each) => (each[name] ? [JSON.stringify(each[name])] : []));
      const names = ['SERVICE_TOKEN', 'CANARY_TOKEN', 'CANARY_TOKEN_2', 'ORIGIN_TOKEN', 'ORIGIN_TOKEN_2'];
      const secrets = names.map(valuesOf);
      // Data proxy; backend and canary, backend; backend, strategy service and data API, twice.
      const { canary } = stage.config;
      expect(secrets.map(({ length }) => length)).toEqual([1, canary ? 2 : 0, canary ? 1 : 0, 3, 3]);
      const sources = [
        'DataCollectionServiceToken',
        'CanaryToken',
        'CanaryToken',
        'OriginToken',
        'OriginToken',
      ];
      for (const [index, source] of sources.entries()) {
        for (const token of secrets[index]!) {
          expect(token).toMatch(new RegExp(`resolve:secretsmanager:.*${source}.*${source}`));
        }
      }
      const others = secrets
        .flat()
        .reduce((text, secret) => text.replace(secret, ''), JSON.stringify(variables));
      expect(others).not.toMatch(/\d{12}|secretsmanager|SECRET|PASSWORD|TOKEN":"./);
    },
  );

  test('environments enforce tokens unless access is open, which is warned about', () => {
    const environmentsOf = (stage: Synthesized) => {
      const services = properties(stage, 'AWS::Lambda::Function').filter(({ Description }) =>
        Description.endsWith('service'),
      );
      return services.map((each) => each.Environment.Variables.ENVIRONMENT);
    };
    expect([dev, prod, elsewhere].map(environmentsOf)).toEqual([
      ['production', 'production'],
      ['production', 'production'],
      ['development', 'development'],
    ]);
    expect(elsewhere.warnings).toEqual([expect.stringContaining('Anyone who finds the address of dev')]);
    expect(dev.warnings).toEqual([]);
  });

  const OWN_POLICY = {
    minSharpe: -0.5,
    minProfitFactor: 1.2,
    maxDrawdown: 25,
    minDeflatedSharpe: 0.95,
    lookAheadCertificate: false,
  };
  const url = 'https://data.example.org';
  const elsewhere = synthesize('dev', {
    openAccess: true,
    dataCollectionUrl: url,
    fourEyesRequired: true,
    challengeMinTrades: 250,
    challengeMinHours: 12,
    challengeMinAssignments: 40,
    challengeRequireAssignment: true,
    releasePolicy: OWN_POLICY,
  });

  test('environments contain the rules of promotions and rollbacks', () => {
    const rulesOf = (stage: Synthesized) => {
      const [backend] = properties(stage, 'AWS::Lambda::Function').filter(
        ({ Environment }) =>
          Environment.Variables.BACKTEST_STATE_MACHINE_ARN && Environment.Variables.DATA_PROXY_FUNCTION,
      );
      const { STAGING_DRY_RUN_REQUIRED, REQUIRE_FOUR_EYES, REQUIRE_ROLLBACK_REASON } =
        backend!.Environment.Variables;
      return [STAGING_DRY_RUN_REQUIRED, REQUIRE_FOUR_EYES, REQUIRE_ROLLBACK_REASON];
    };
    expect([dev, prod, elsewhere].map(rulesOf)).toEqual([
      ['false', 'false', 'false'],
      ['true', 'false', 'false'],
      ['false', 'true', 'false'],
    ]);
  });

  test('every function that registers, stages or promotes has the release policy', () => {
    const policiesOf = (stage: Synthesized) =>
      properties(stage, 'AWS::Lambda::Function')
        .map(({ Environment }) => Environment.Variables)
        .filter((variables) => variables.REQUIRE_FOUR_EYES !== undefined)
        .map((variables) =>
          Object.fromEntries(Object.entries(variables).filter(([name]) => name.startsWith('POLICY_'))),
        );
    const [off, on, own] = [dev, prod, elsewhere].map(policiesOf);
    // Backend, strategy service, Repair and Dispatcher.
    expect(off).toEqual(Array(4).fill({ POLICY_LOOK_AHEAD_CERTIFICATE: 'false' }));
    const prodPolicy = {
      POLICY_MIN_TRADES: '30',
      POLICY_MIN_DAYS: '90',
      POLICY_MAX_EVIDENCE_AGE_DAYS: '180',
      POLICY_LOOK_AHEAD_CERTIFICATE: 'true',
    };
    expect(on).toEqual(Array(4).fill(prodPolicy));
    const ownPolicy = {
      POLICY_MIN_SHARPE: '-0.5',
      POLICY_MIN_PROFIT_FACTOR: '1.2',
      POLICY_MAX_DRAWDOWN: '25',
      POLICY_MIN_DEFLATED_SHARPE: '0.95',
      POLICY_LOOK_AHEAD_CERTIFICATE: 'false',
    };
    expect(own).toEqual(Array(4).fill(ownPolicy));
    // Values after parsing by the functions.
    const reads = (variables: Record<string, string>) =>
      releasePolicyOf(readEnv({ variables: releasePolicy }, variables));
    expect(reads(prodPolicy)).toEqual(stageConfig('prod').releasePolicy);
    expect(reads(ownPolicy)).toEqual(OWN_POLICY);
  });

  test('strategy service has the conditions of a verdict and the default of require_assignment', () => {
    const conditionsOf = (stage: Synthesized) =>
      properties(stage, 'AWS::Lambda::Function')
        .map(({ Environment }) => Environment.Variables)
        .filter(({ CHALLENGE_MIN_HOURS }) => CHALLENGE_MIN_HOURS !== undefined)
        .map((each) => [
          each.CHALLENGE_MIN_HOURS,
          each.CHALLENGE_MIN_ASSIGNMENTS,
          each.CHALLENGE_REQUIRE_ASSIGNMENT,
        ]);
    expect([dev, prod, elsewhere].map(conditionsOf)).toEqual([
      [['0', '0', 'false']],
      [['24', 'min_trades', 'true']],
      [['12', '40', 'true']],
    ]);
  });

  test('strategy service has the minimum number of trades of a challenge', () => {
    const leastOf = (stage: Synthesized) =>
      properties(stage, 'AWS::Lambda::Function')
        .map(({ Environment }) => Environment.Variables.CHALLENGE_MIN_TRADES)
        .filter((value) => value !== undefined);
    expect([dev, elsewhere].map(leastOf)).toEqual([['100'], ['250']]);
  });

  test('data proxy has the namespace of data collection, or the URL of an existing one', () => {
    const proxyOf = (stage: Synthesized) =>
      properties(stage, 'AWS::Lambda::Function').find(({ Timeout }) => Timeout === 60)!;
    expect(proxyOf(dev).Environment.Variables).toMatchObject({
      SERVICE_DISCOVERY_NAMESPACE: 'touchstone-dev.internal',
    });
    expect(proxyOf(dev).VpcConfig).toBeDefined();
    expect(proxyOf(elsewhere).Environment.Variables).toMatchObject({ DATA_COLLECTION_URL: url });
    // Without a NAT only tasks with a public IP address reach the internet.
    expect(proxyOf(elsewhere).VpcConfig).toBeUndefined();
    expect(ofType(elsewhere, 'AWS::ECS::Service')).toEqual([]);
  });
});
