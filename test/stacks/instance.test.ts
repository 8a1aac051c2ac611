import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { describe, expect, test } from 'vitest';
import { addTouchstone } from '#lib/add-touchstone.ts';
import { placeholderBundles } from '#lib/cost/templates.ts';
import { StageConfig, stageConfig } from '#lib/settings/config.ts';
import { ofType, type Synthesized } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

/** Several deployments of a stage in one account and region, and tags. */

const env = { account: '111122223333', region: 'eu-central-1' };
const tags = { 'cost-center': '4711', owner: 'desk@example.com' };
const shared = {
  env,
  web: { ...stageConfig('prod').web, distributionName: 'd111111abcdef8.cloudfront.net' },
} as const;
const plain = synthesize('prod', shared);
const blue = synthesize('prod', { ...shared, instance: 'blue', tags });

/** Names in a template, by the type of their resource. Those of children of a resource may be equal in two deployments. */
const CHILDREN =
  /^AWS::(Cognito::UserPool(Group|Client|ResourceServer)|ServiceDiscovery::Service|Lambda::(Alias|Function)|IAM::)/;
function namesOf({ resources }: Synthesized): Set<string> {
  const found = new Set<string>();
  const walk = (type: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      const isName =
        /^(Name|Family|Domain|AlarmName|DashboardName|BackupVaultName|LogGroupName|.*PolicyName)$/.test(key);
      if (isName && /touchstone/.test(JSON.stringify(each))) found.add(`${type} ${JSON.stringify(each)}`);
    }
    for (const each of Object.values(value)) walk(type, each);
  };
  for (const { Type, Properties } of resources.values()) {
    if (!CHILDREN.test(Type)) walk(Type, Properties);
  }
  return found;
}

/** Dimensions of the platform's own metrics in alarms and in the dashboard. */
function dimensionsOf(stage: Synthesized): string[][] {
  const found: string[][] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { Namespace, Dimensions } = value as { Namespace?: string; Dimensions?: { Name: string }[] };
    if (Namespace === 'Touchstone') found.push(Dimensions!.map(({ Name }) => Name).sort());
    for (const each of Object.values(value)) walk(each);
  };
  for (const [, { Properties }] of ofType(stage, 'AWS::CloudWatch::Alarm')) walk(Properties);
  return found;
}

describe('deployment with a name', () => {
  test('no name in the account is that of the deployment without one', () => {
    const [names, others] = [namesOf(plain), namesOf(blue)];
    expect(names.size).toBeGreaterThan(60);
    expect(others.size).toBe(names.size);
    expect([...names].filter((name) => others.has(name))).toEqual([]);
  });

  test('stacks, pages of sign-in, private name and parameter have the name', () => {
    const one = (type: string) => ofType(blue, type)[0]![1].Properties;
    expect(one('AWS::CloudWatch::Dashboard').DashboardName).toBe('touchstone-prod-blue-platform');
    expect(one('AWS::Cognito::UserPoolDomain').Domain).toBe('touchstone-prod-blue-111122223333');
    expect(one('AWS::ServiceDiscovery::PrivateDnsNamespace').Name).toBe('blue.touchstone.internal');
    expect(one('AWS::SSM::Parameter').Name).toBe('/touchstone/prod-blue/data-proxy-arn');
  });

  test('metrics of the services have the name as a dimension, and no dimension more without one', () => {
    const [before, after] = [dimensionsOf(plain), dimensionsOf(blue)];
    expect(before.length).toBeGreaterThan(5);
    expect(new Set(before.map(String))).toEqual(new Set(['service,stage']));
    expect(after).toHaveLength(before.length);
    expect(new Set(after.map(String))).toEqual(new Set(['instance,service,stage']));
  });

  test('every function that knows its stage knows the name', () => {
    const variablesOf = (stage: Synthesized) =>
      ofType(stage, 'AWS::Lambda::Function')
        .map(([, { Properties }]) => Properties.Environment?.Variables ?? {})
        .filter(({ ENVIRONMENT }) => ENVIRONMENT !== undefined)
        .map(({ TOUCHSTONE_INSTANCE }) => TOUCHSTONE_INSTANCE);
    expect(new Set(variablesOf(blue))).toEqual(new Set(['blue']));
    expect(variablesOf(blue).length).toBeGreaterThan(12);
    expect(new Set(variablesOf(plain))).toEqual(new Set([undefined]));
  });
});

describe('tags', () => {
  test('every resource that has the tags of the platform has those of the settings', () => {
    const tagsOf = (value: any): Record<string, string> =>
      Array.isArray(value)
        ? Object.fromEntries(value.map(({ Key, Value }: any) => [Key, Value]))
        : (value ?? {});
    const tagged = [...blue.resources.values()].flatMap(({ Properties = {} }) =>
      [
        Properties.Tags,
        Properties.UserPoolTags,
        Properties.BackupVaultTags,
        ...(Properties.Replicas ?? []).map((each: any) => each.Tags),
      ]
        .map(tagsOf)
        .filter(({ service }) => service === 'touchstone'),
    );
    expect(tagged.length).toBeGreaterThan(60);
    for (const each of tagged) expect(each).toMatchObject({ ...tags, stage: 'prod', instance: 'blue' });
    expect(JSON.stringify([...plain.resources.values()])).not.toContain('cost-center');
  });

  test('every stack has them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-tags-'));
    try {
      const { context } = JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8'));
      const app = new App({ outdir: join(folder, 'cdk.out'), context });
      const backup = { copyToRegion: 'eu-west-1' };
      addTouchstone(app, stageConfig('prod', { env, backup, tags }), placeholderBundles(folder));
      const { stacks } = app.synth();
      expect(stacks.map(({ stackName, tags: found }) => [stackName, found])).toEqual(
        ['copies', 'data', 'platform'].map((part) => [`touchstone-prod-${part}`, tags]),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('EventBridge publishes to a topic of alarms without a condition: it sends SNS nothing to check', () => {
    const statements = ofType(blue, 'AWS::SNS::TopicPolicy').flatMap(
      ([, { Properties }]) => Properties.PolicyDocument.Statement as any[],
    );
    const ofEvents = statements.filter(({ Principal }) => Principal.Service === 'events.amazonaws.com');
    expect(ofEvents.length).toBeGreaterThan(0);
    for (const statement of ofEvents) expect(statement).not.toHaveProperty('Condition');
  });
});

test.each<[string, object, RegExp]>([
  ['a name with a hyphen', { instance: 'blue-1' }, /up to 12 lower-case letters/],
  ['a long name', { instance: 'abcdefghijklm' }, /up to 12 lower-case letters/],
  ['a tag of AWS', { tags: { 'aws:x': '1' } }, /without aws: first/],
  ['a tag of the platform', { tags: { Stage: '1' } }, /are set already/],
  ['a tag with a wrong character', { tags: { a: 'b;c' } }, /up to 256 letters/],
])('%s is rejected', (_, changes, message) => {
  expect(() => StageConfig.parse({ ...stageConfig('dev'), ...changes })).toThrow(message);
});
