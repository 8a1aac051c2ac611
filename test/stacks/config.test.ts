import { describe, expect, test } from 'vitest';
import { StageConfig, stageConfig } from '#lib/settings/config.ts';

describe('stages', () => {
  test.each(['dev', 'test', 'prod'])('configuration of %s is valid', (name) => {
    expect(stageConfig(name).stage).toBe(name);
  });

  test.each(['production', '', 'toString'])("unknown stage '%s' throws with the known ones", (name) => {
    expect(() => stageConfig(name)).toThrow(/Use -c stage=dev\|test\|prod/);
  });

  test('unknown setting is rejected', () => {
    expect(() => StageConfig.parse({ ...stageConfig('dev'), protekt: true })).toThrow(/protekt/);
  });

  test.each<[string, Partial<StageConfig>, RegExp]>([
    [
      'a stage that requires tokens without an issuer',
      { identity: { kind: 'none' } },
      /no token would be accepted/,
    ],
    ['production without required tokens', { openAccess: true }, /must be false in prod/],
    [
      'a pool of another region',
      { identity: { kind: 'existing', userPoolId: 'eu-west-1_a', clientId: 'c', region: 'us-east-1' } },
      /userPoolId begins/,
    ],
    [
      'a pool without its client',
      { identity: { kind: 'existing', userPoolId: 'eu-west-1_a', clientId: '', region: 'eu-west-1' } },
      /clientId/,
    ],
    [
      'an address for alarms without alarms',
      { alarms: false, alarmEmail: 'desk@example.org' },
      /set alarms too/,
    ],
    [
      'copies of backups in the same region',
      {
        env: { account: '111122223333', region: 'eu-west-1' },
        backup: { dailyDays: 35, monthlyDays: 365, buckets: true, copyToRegion: 'eu-west-1' },
      },
      /must differ from the region of env/,
    ],
    [
      'a topic without alarms',
      { alarms: false, alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:desk' },
      /set alarms too/,
    ],
    ['a canary without alarms', { alarms: false, trafficShift: false }, /fires alarms: set alarms too/],
    [
      'an address and a topic',
      { alarmEmail: 'a@b.example', alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:desk' },
      /write one of them/,
    ],
    [
      'an address and a topic of tickets',
      { ticketEmail: 'a@b.example', ticketTopicArn: 'arn:aws:sns:eu-west-1:111122223333:desk' },
      /replaces the topic of ticketEmail: write one of them/,
    ],
    ['a topic by its name', { alarmTopicArn: 'desk' }, /write the ARN of a standard SNS topic/],
    [
      'a machine client of a pool that exists already',
      {
        identity: { kind: 'existing', userPoolId: 'eu-west-1_a', clientId: 'c', region: 'eu-west-1' },
        machineClients: [{ name: 'nightly', role: 'viewer' }],
      },
      /clients of the pool of this deployment/,
    ],
    [
      'two machine clients of one name',
      {
        machineClients: [
          { name: 'nightly', role: 'viewer' },
          { name: 'nightly', role: 'admin' },
        ],
      },
      /one name twice/,
    ],
    [
      'a certificate of another region',
      {
        env: { account: '111122223333', region: 'eu-west-1' },
        domain: { name: 'a.example', certificateArn: 'arn:aws:acm:us-east-1:111122223333:certificate/1' },
      },
      /is of another region than env/,
    ],
    ['rate limits without a firewall', { firewall: false, rateLimits: true }, /set it too/],
    ['a user among callers', { trustedCallers: ['arn:aws:iam::111122223333:user/ann'] }, /trustedCallers/],
    ['a wildcard among callers', { trustedCallers: ['*'] }, /trustedCallers/],
    [
      'a sign-in redirect without TLS',
      {
        identity: { kind: 'own', hostedUi: { domainPrefix: 'desk', callbackUrls: ['http://desk.example'] } },
      },
      /callbackUrls/,
    ],
  ])('%s is rejected', (_, changes, text) => {
    expect(() => StageConfig.parse({ ...stageConfig('prod'), ...changes })).toThrow(text);
  });

  test('production is protected, requires tokens and has a firewall', () => {
    expect(stageConfig('prod')).toMatchObject({
      openAccess: false,
      protect: true,
      network: 'isolated',
      firewall: true,
      rateLimits: false,
    });
  });
});
