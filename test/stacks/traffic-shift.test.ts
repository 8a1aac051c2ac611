import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { StageConfig, stageConfig } from '#lib/settings/config.ts';
import { ofType, type Resource, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const prod = templatesOf('prod');
const inOneStep = synthesize('prod', { trafficShift: false });

const aliases = ofType(prod, 'AWS::Lambda::Alias');
const shifted = aliases.filter(([, { UpdatePolicy }]) => UpdatePolicy);
const groupOf = ({ UpdatePolicy }: Resource): Resource['Properties'] => {
  const { DeploymentGroupName } = UpdatePolicy!.CodeDeployLambdaAliasUpdate;
  return prod.resources.get(DeploymentGroupName.Ref)!.Properties;
};
const brakesOf = (alias: Resource) =>
  groupOf(alias).AlarmConfiguration.Alarms.map(
    ({ Name }: { Name: { Ref: string } }) => prod.resources.get(Name.Ref)!.Properties,
  );

test('functions that answer callers shift traffic in prod', () => {
  expect(shifted.map(([id]) => id.replace(/Live[A-F0-9]{8}$/, '')).sort()).toEqual([
    'Backend',
    'DataApiService',
    'DataProxyService',
    'JobEvents',
    'StrategyEvents',
    'StrategyService',
  ]);
});

test('names in the runbook select one function each', () => {
  const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
  const [, list] = /\nseconds, for one function: ([^:]+):\n/.exec(runbook)!;
  const names = [...list!.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  const ids = ofType(prod, 'AWS::Lambda::Function').map(([id]) => id);
  const selected = names.map((name) => ids.filter((id) => id.startsWith(name)));
  expect(selected.flat().sort()).toEqual(ids.sort());
  expect(selected.every((each) => each.length === 1)).toBe(true);
});

test('dev switches functions in one step', () => {
  const dev = templatesOf('dev');
  expect(ofType(dev, 'AWS::Lambda::Alias').every(([, each]) => each.UpdatePolicy === undefined)).toBe(true);
  for (const type of ['Application', 'DeploymentGroup', 'DeploymentConfig']) {
    expect(ofType(dev, `AWS::CodeDeploy::${type}`)).toEqual([]);
  }
});

test('aliases keep their logical ID when traffic shifting is switched on or off', () => {
  const identity = ([id, { Properties }]: [string, Resource]) => [
    id,
    Properties.Name,
    Properties.FunctionName,
    Properties.FunctionVersion,
  ];
  expect(aliases.map(identity)).toEqual(ofType(inOneStep, 'AWS::Lambda::Alias').map(identity));
});

test('traffic shifts in the steps of the setting', () => {
  const stage = synthesize('prod', { trafficShift: { percent: 25, minutes: 15 } });
  const [[id, config]] = ofType(stage, 'AWS::CodeDeploy::DeploymentConfig') as [[string, Resource]];
  expect(config.Properties).toMatchObject({
    ComputePlatform: 'Lambda',
    TrafficRoutingConfig: {
      Type: 'TimeBasedCanary',
      TimeBasedCanary: { CanaryPercentage: 25, CanaryInterval: 15 },
    },
  });
  for (const [, { Properties }] of ofType(stage, 'AWS::CodeDeploy::DeploymentGroup')) {
    expect(Properties.DeploymentConfigName).toEqual({ Ref: id });
  }
});

describe.each(shifted)('deployment of %s', (_, alias) => {
  test('failure, manual stop and alarm shift the traffic back', () => {
    expect(groupOf(alias)).toMatchObject({
      AlarmConfiguration: { Enabled: true },
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
      },
    });
    expect(groupOf(alias).AlarmConfiguration.IgnorePollAlarmFailure).not.toBe(true);
  });

  test('alias moves after its brake watches the new version', () => {
    expect(alias.DependsOn).toContain(
      alias.UpdatePolicy!.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref,
    );
    // The group waits for its alarm, and the alarm for the version, by their references.
    const [brake] = brakesOf(alias);
    expect(JSON.stringify(brake.Metrics)).toContain(JSON.stringify(alias.Properties.FunctionVersion));
  });

  test('first error of the new version within a minute stops it', () => {
    const [brake, ...others] = brakesOf(alias);
    expect(others).toEqual([]);
    expect(brake).toMatchObject({
      Threshold: 1,
      EvaluationPeriods: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      TreatMissingData: 'notBreaching',
    });
    const metrics = brake.Metrics.filter(({ MetricStat }: any) => MetricStat).map(
      ({ MetricStat }: any) => MetricStat,
    );
    expect(metrics.map(({ Period, Stat }: any) => [Period, Stat])).toEqual(Array(2).fill([60, 'Sum']));
    const { FunctionName, FunctionVersion } = alias.Properties;
    const [crashes, errors] = metrics.map(({ Metric }: any) => Metric);
    expect(Object.fromEntries(crashes.Dimensions.map(({ Name, Value }: any) => [Name, Value]))).toEqual({
      FunctionName,
      Resource: { 'Fn::Join': ['', [FunctionName, ':live']] },
      ExecutedVersion: FunctionVersion,
    });
    expect(errors.Dimensions).toEqual([{ Name: 'version', Value: FunctionVersion }]);
    // Only the function's own log counts into its metric.
    const filters = ofType(prod, 'AWS::Logs::MetricFilter').filter(
      ([, { Properties }]) => Properties.MetricTransformations[0].MetricName === errors.MetricName,
    );
    const log = prod.resources.get(FunctionName.Ref)!.Properties.LoggingConfig.LogGroup;
    expect(filters.map(([, { Properties }]) => Properties)).toMatchObject([
      {
        LogGroupName: log,
        // Fields as in test/lambdas/backend.test.ts and test/lambdas/data-proxy.test.ts.
        FilterPattern: '{ ($.level = "ERROR") || ($.upstream IS TRUE) }',
        MetricTransformations: [
          {
            MetricNamespace: errors.Namespace,
            MetricValue: '1',
            Dimensions: [{ Key: 'version', Value: '$.function_version' }],
          },
        ],
      },
    ]);
  });
});

test('traffic shifting without alarms is rejected', () => {
  const { success, error } = StageConfig.safeParse({ ...stageConfig('prod'), alarms: false, canary: false });
  expect(success).toBe(false);
  expect(error!.issues.map(({ path }) => path)).toEqual([['trafficShift']]);
});
