import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { stageConfig } from '#lib/settings/config.ts';
import { ofType, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

/** What an account has already, or not yet, when a stage comes into it. */

const prod = templatesOf('prod');
const stage = synthesize('dev', { bootstrapQualifier: 'desk1', apiGatewayLogRole: 'existing' });
const stacksOf = ({ data, platform }: typeof stage) => [data.toJSON(), platform.toJSON()];

describe('bootstrap stack', () => {
  test('stacks use the one of the qualifier, by default that of the CDK', () => {
    const versionOf = (each: typeof stage) =>
      stacksOf(each).map(({ Parameters }) => Parameters.BootstrapVersion.Default);
    expect(versionOf(stage)).toEqual(Array(2).fill('/cdk-bootstrap/desk1/version'));
    expect(versionOf(prod)).toEqual(Array(2).fill('/cdk-bootstrap/hnb659fds/version'));
    const [, platform] = stacksOf(stage);
    expect(JSON.stringify(platform)).toContain('cdk-desk1-assets-');
    expect(JSON.stringify(platform)).not.toContain('hnb659fds');
  });
});

describe("account's role for logs of API Gateway", () => {
  test('stage without an own one leaves it as it is', () => {
    expect(ofType(stage, 'AWS::ApiGateway::Account')).toEqual([]);
    expect([...stage.resources.keys()].filter((id) => /CloudWatchRole/.test(id))).toEqual([]);
    for (const [id, { Properties }] of ofType(stage, 'AWS::ApiGateway::Stage')) {
      expect(Properties.MethodSettings[0].LoggingLevel, id).toBe('ERROR');
    }
  });

  test('own one outlives the stage and a creation that fails: the account names it', () => {
    const named = [...prod.resources].filter(([id]) => /ApiCloudWatchRole|ApiAccount/.test(id));
    expect(named.map(([, { Type, DeletionPolicy }]) => [Type, DeletionPolicy])).toEqual([
      ['AWS::IAM::Role', 'Retain'],
      ['AWS::ApiGateway::Account', 'Retain'],
    ]);
  });
});

describe('concurrent executions of a new account', () => {
  const reserved = (each: typeof stage) =>
    ofType(each, 'AWS::Lambda::Function').reduce(
      (sum, [, { Properties }]) => sum + (Properties.ReservedConcurrentExecutions ?? 0),
      0,
    );
  const text = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');

  test('docs/deploy.md states the quota that each stage needs, which is 100 more than its functions reserve', () => {
    const withoutAny = { ...stageConfig('prod'), liveViewers: undefined, proxyConcurrency: undefined };
    expect(reserved(stage)).toBe(0);
    expect(reserved(synthesize('prod', withoutAny))).toBe(0);
    const quotas = [reserved(synthesize('test', {})), reserved(prod)].map((sum) => sum + 100);
    expect(text).toContain(`\`test\` needs a quota of ${quotas[0]}, and \`prod\` of ${quotas[1]}`);
  });
});
