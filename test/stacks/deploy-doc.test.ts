import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { stageConfig } from '#lib/config.ts';
import { ofType, templatesOf } from '../support/stacks.ts';

/** What docs/deploy.md tells people to type must fit what is deployed. */

const text = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
const prod = templatesOf('prod');
const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!);
const client = ofType(prod, 'AWS::Cognito::UserPoolClient')[0]![1].Properties;

describe('docs/deploy.md', () => {
  test('names outputs that there are, of the stack that has them', () => {
    const named = all(/\$\(output (\w+)\)/g);
    expect(named).toEqual(['UserPoolId', 'UserPoolClientId']);
    for (const name of named) expect(prod.data.findOutputs(name), name).toHaveProperty(name);
    expect(text).toContain('touchstone-$STAGE-data');
  });

  test('uses sign-in flows that the client allows, and names them all', () => {
    const flows = new Set(all(/\b((?:USER|REFRESH)_\w+_AUTH)\b/g));
    const allowed = new Set(client.ExplicitAuthFlows.map((flow: string) => flow.replace(/^ALLOW_/, '')));
    expect(flows).toEqual(allowed);
  });

  test('sends no secret, because there is none', () => {
    expect(text).not.toContain('SECRET_HASH');
    expect(client).not.toHaveProperty('GenerateSecret', true);
  });

  test('adds users to groups that there are', () => {
    const groups = ofType(prod, 'AWS::Cognito::UserPoolGroup').map(([, each]) => each.Properties.GroupName);
    for (const name of all(/--group-name (\w+)/g)) expect(groups).toContain(name);
    for (const name of groups) expect(text).toContain(`\`${name}\``);
  });

  test('says how long passwords and tokens are good', () => {
    const [[, pool]] = ofType(prod, 'AWS::Cognito::UserPool') as [ReturnType<typeof ofType>[number]];
    const { MinimumLength, TemporaryPasswordValidityDays } = pool.Properties.Policies.PasswordPolicy;
    expect([MinimumLength, TemporaryPasswordValidityDays]).toEqual([12, 3]);
    expect(text).toMatch(/good for three days;.*\n.*at least 12 characters/);
    expect([client.AccessTokenValidity, client.RefreshTokenValidity]).toEqual([60, 12 * 60]);
    expect(text).toMatch(/good for an hour.*\n.*new ones for 12 hours/);
  });

  test('names settings that there are', () => {
    const paragraph = /^Also there: ([\s\S]*?)\n\n/m.exec(text)![1]!;
    const known = readFileSync(new URL('../../lib/config.ts', import.meta.url), 'utf8');
    const named = [...paragraph.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(8);
    for (const name of named) expect(known, name).toMatch(new RegExp(`\\b${name}: `));
    expect(Object.keys(stageConfig('prod'))).toContain('rateLimits');
  });
});
