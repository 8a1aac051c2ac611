import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ofType, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

/** The commands and settings in docs/deploy.md must match what is deployed. */

const text = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
const prod = templatesOf('prod');
const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!);
const client = ofType(prod, 'AWS::Cognito::UserPoolClient')[0]![1].Properties;

describe('docs/deploy.md', () => {
  test('docs/deploy.md contains only outputs of the stacks', () => {
    const stage = synthesize('prod', { machineClients: [{ name: 'nightly-run', role: 'researcher' }] });
    const named = new Set(all(/\$\(output (\w+)\)/g));
    expect([...named].sort()).toEqual([
      'BackendUrl',
      'MachineClientNightlyRun',
      'TokenUrl',
      'UserPoolClientId',
      'UserPoolId',
    ]);
    for (const name of named) {
      expect({ ...stage.data.findOutputs(name), ...stage.platform.findOutputs(name) }).toHaveProperty(name);
    }
    expect(text).toContain('touchstone-$STAGE-data');
  });

  test('docs/deploy.md contains exactly the sign-in flows that the client allows', () => {
    const flows = new Set(all(/\b((?:USER|REFRESH)_\w+_AUTH)\b/g));
    const allowed = new Set(client.ExplicitAuthFlows.map((flow: string) => flow.replace(/^ALLOW_/, '')));
    expect(flows).toEqual(allowed);
  });

  test('docs/deploy.md sends no client secret', () => {
    expect(text).not.toContain('SECRET_HASH');
    expect(client).not.toHaveProperty('GenerateSecret', true);
  });

  test('docs/deploy.md contains exactly the groups of the pool', () => {
    const groups = ofType(prod, 'AWS::Cognito::UserPoolGroup').map(([, each]) => each.Properties.GroupName);
    for (const name of all(/--group-name (\w+)/g)) expect(groups).toContain(name);
    for (const name of groups) expect(text).toContain(`\`${name}\``);
  });

  test('docs/deploy.md states the validity of passwords and tokens', () => {
    const [[, pool]] = ofType(prod, 'AWS::Cognito::UserPool') as [ReturnType<typeof ofType>[number]];
    const { MinimumLength, TemporaryPasswordValidityDays } = pool.Properties.Policies.PasswordPolicy;
    expect([MinimumLength, TemporaryPasswordValidityDays]).toEqual([12, 3]);
    expect(text).toMatch(/valid for three days\.[^.]*at least 12 characters/);
    expect([client.AccessTokenValidity, client.RefreshTokenValidity]).toEqual([60, 12 * 60]);
    expect(text).toMatch(/access token is valid for one hour\.[^.]*valid for 12 hours/);
  });

  test('docs/deploy.md contains exactly the settings of the schema', () => {
    const table = /^Other settings:\n\n([\s\S]*?)\n\n/m.exec(text)![1]!;
    const known = readFileSync(new URL('../../touchstone.config.schema.json', import.meta.url), 'utf8');
    const named = [...table.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(8);
    for (const name of named) expect(known, name).toMatch(new RegExp(`"${name}": `));
    const { properties } = JSON.parse(known).$defs.StageSettings;
    for (const name of Object.keys(properties)) expect(text, name).toContain(`\`${name}\``);
  });
});
