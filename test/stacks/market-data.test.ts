import { describe, expect, test } from 'vitest';
import { actionsOf, ofType, statements, templatesOf } from '../support/stacks.ts';

const dev = templatesOf('dev');
const prod = templatesOf('prod');

describe.each([dev, prod])('what collects market data in $config.stage', (stage) => {
  const all = statements(stage);
  /** What a task's own role may do, as `table or bucket: actions`. */
  const allowed = (role: string) =>
    all
      .filter(({ id, statement }) => id.startsWith(role) && statement.Effect === 'Allow')
      .map(
        ({ statement }) => `${resourceOf(statement.Resource)}: ${[...actionsOf(statement)].sort().join(' ')}`,
      )
      .sort();

  test('the service reads and writes candles, series and collections, adds to the audit trail, and nothing else', () => {
    expect(allowed('DataCollectionTaskDefinitionTaskRole')).toEqual([
      'Candles/*: s3:GetObject s3:PutObject',
      'Candles: s3:ListBucket',
      'Registry: dynamodb:PutItem',
      'Series: dynamodb:BatchGetItem dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem',
    ]);
  });

  test('the task reads and writes candles and series, and records its outcome in the job', () => {
    expect(allowed('CollectTaskDefinitionTaskRole')).toEqual([
      'Candles/*: s3:GetObject s3:PutObject',
      'Candles: s3:ListBucket',
      'Jobs: dynamodb:GetItem dynamodb:UpdateItem',
      'Series: dynamodb:BatchGetItem dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem',
    ]);
  });

  test('a backtest reads candles, and notes which it found corrupt', () => {
    expect(allowed('BacktestTaskDefinitionTaskRole')).toEqual(
      expect.arrayContaining([
        'Candles/*: s3:GetObject',
        'Series: dynamodb:BatchGetItem dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem',
      ]),
    );
  });

  test('the backend reads which series there are', () => {
    expect(allowed('BackendRole').filter((each) => /Series|Candles/.test(each))).toEqual([
      'Series: dynamodb:BatchGetItem',
    ]);
  });

  test('the proxy reaches neither table nor bucket', () => {
    const own = allowed('DataProxyService');
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((each) => /dynamodb|s3:|secretsmanager|ssm:/.test(each))).toEqual([]);
  });

  test('the service is found as data-collection in the namespace, at every task’s address', () => {
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

  test('the proxy alone reaches it, on port 8002', () => {
    const into = ofType(stage, 'AWS::EC2::SecurityGroupIngress')
      .map(([, { Properties }]) => Properties)
      .filter(({ GroupId }) => JSON.stringify(GroupId).includes('DataCollection'));
    expect(into).toHaveLength(1);
    expect(into[0]).toMatchObject({ IpProtocol: 'tcp', FromPort: 8002, ToPort: 8002 });
    expect(JSON.stringify(into[0]!.SourceSecurityGroupId)).toContain('DataProxySecurityGroup');
  });
});

/** `Candles`, `Candles/*`, `Series`: the construct behind an ARN of another stack or of this one. */
function resourceOf(resource: unknown): string {
  const text = JSON.stringify(resource);
  const name = /(Candles|Results|Jobs|Registry|Series)/.exec(text)?.[1] ?? text;
  return text.includes('/*') ? `${name}/*` : name;
}
