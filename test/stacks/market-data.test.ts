import { describe, expect, test } from 'vitest';
import { actionsOf, ofType, type Resource, statements, templatesOf } from '../support/stacks.ts';

const dev = templatesOf('dev');
const prod = templatesOf('prod');

describe.each([dev, prod])('market data of $config.stage', (stage) => {
  const all = statements(stage);
  /** Actions of a task's role, as `table or bucket: actions`. */
  const allowed = (role: string) =>
    all
      .filter(({ id, statement }) => id.startsWith(role) && statement.Effect === 'Allow')
      .map(
        ({ statement }) => `${resourceOf(statement.Resource)}: ${[...actionsOf(statement)].sort().join(' ')}`,
      )
      .sort();

  test('collection service may access candles, series, what uses them, and add audit items', () => {
    expect(allowed('DataCollectionTaskDefinitionTaskRole')).toEqual([
      'Candles/*: s3:DeleteObject s3:GetObject s3:PutObject',
      'Candles: s3:ListBucket',
      'Jobs: dynamodb:BatchGetItem',
      // Of the registry too: test/stacks/permissions.test.ts.
      'Jobs: dynamodb:Query',
      'Registry: dynamodb:PutItem',
      'Series: dynamodb:BatchGetItem dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem',
    ]);
  });

  test('collection task may access candles and series, and record its outcome in the job', () => {
    expect(allowed('CollectTaskDefinitionTaskRole')).toEqual([
      'Candles/*: s3:DeleteObject s3:GetObject s3:PutObject',
      'Candles: s3:ListBucket',
      'Jobs: dynamodb:GetItem dynamodb:UpdateItem',
      'Series: dynamodb:BatchGetItem dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem',
    ]);
  });

  test('backtest may read candles and record corrupt files', () => {
    expect(allowed('BacktestTaskDefinitionTaskRole')).toEqual(
      expect.arrayContaining([
        'Candles/*: s3:GetObject',
        'Series: dynamodb:BatchGetItem dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem',
      ]),
    );
  });

  test('backend may read the list of series', () => {
    // Pages of series for the freshness of the overview.
    expect(allowed('BackendRole').filter((each) => /Series|Candles/.test(each))).toEqual([
      'Series: dynamodb:BatchGetItem dynamodb:Query',
    ]);
  });

  test('proxy may access no table or bucket', () => {
    const own = allowed('DataProxyService');
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((each) => /dynamodb|s3:|secretsmanager|ssm:/.test(each))).toEqual([]);
  });

  test('service discovery resolves data-collection to the address of each task', () => {
    const [[namespace, { Properties: names }]] = ofType(
      stage,
      'AWS::ServiceDiscovery::PrivateDnsNamespace',
    ) as [ReturnType<typeof ofType>[number]];
    expect(names.Name).toBe(stage.config.namespace);
    const [[id, { Properties }]] = ofType(stage, 'AWS::ServiceDiscovery::Service') as [
      ReturnType<typeof ofType>[number],
    ];
    expect(Properties).toMatchObject({
      Name: 'data-collection',
      DnsConfig: {
        NamespaceId: { 'Fn::GetAtt': [namespace, 'Id'] },
        DnsRecords: [{ Type: 'A' }],
      },
    });
    const services = ofType(stage, 'AWS::ECS::Service').map(([, each]) => each.Properties);
    expect(services).toHaveLength(1);
    expect(services[0]).toMatchObject({
      DesiredCount: 1,
      ServiceRegistries: [{ RegistryArn: { 'Fn::GetAtt': [id, 'Arn'] } }],
    });
  });

  test('service runs on Spot in dev only, and exists after the capacity providers', () => {
    const [[, service]] = ofType(stage, 'AWS::ECS::Service') as [[string, Resource]];
    expect(service.Properties).toMatchObject(
      stage.config.stage === 'dev'
        ? { CapacityProviderStrategy: [{ CapacityProvider: 'FARGATE_SPOT', Weight: 1 }] }
        : { LaunchType: 'FARGATE' },
    );
    const [[providers]] = ofType(stage, 'AWS::ECS::ClusterCapacityProviderAssociations') as [
      [string, Resource],
    ];
    expect(service.DependsOn).toContain(providers);
  });

  test('only the proxy and the API reach the service, on port 8002', () => {
    const into = ofType(stage, 'AWS::EC2::SecurityGroupIngress')
      .map(([, { Properties }]) => Properties)
      .filter(({ GroupId }) => JSON.stringify(GroupId).includes('DataCollection'));
    for (const each of into) expect(each).toMatchObject({ IpProtocol: 'tcp', FromPort: 8002, ToPort: 8002 });
    const sources = into.map(({ SourceSecurityGroupId }) => SourceSecurityGroupId['Fn::GetAtt'][0]);
    expect(sources.sort()).toEqual([
      expect.stringMatching(/^DataApiSecurityGroup/),
      expect.stringMatching(/^DataProxySecurityGroup/),
    ]);
  });
});

/** `Candles`, `Candles/*`, `Series`: the construct behind an ARN of another stack or of this one. */
function resourceOf(resource: unknown): string {
  const text = JSON.stringify(resource);
  const name = /(Candles|Results|Jobs|Registry|Series)/.exec(text)?.[1] ?? text;
  return text.includes('/*') ? `${name}/*` : name;
}
