import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include';
import { describe, expect, test } from 'vitest';
import { readStageConfig } from '#lib/settings/settings-file.ts';
import {
  actionsOf,
  ofType,
  type Resource,
  type Statement,
  statements,
  templatesOf,
} from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

/** deploy/account.json, the pipeline and the example of docs/deploy.md against the templates that they deploy. */

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { Resources, Parameters, Conditions } = JSON.parse(read('deploy/account.json')) as {
  Resources: Record<string, Resource>;
  Parameters: Record<string, { Default: string; AllowedPattern?: string }>;
  Conditions: Record<string, unknown>;
};
const policyOf = (id: string) =>
  Resources[id]!.Properties.PolicyDocument.Statement as (Statement & { Sid: string })[];
const deploy = policyOf('Deploy');
const boundary = policyOf('Boundary');

const example = synthesize('prod', readStageConfig('prod', join(ROOT, 'docs/examples/three-accounts.json')));
const stages = [
  templatesOf('dev'),
  example,
  synthesize('dev', {
    identity: { kind: 'own', hostedUi: { domainPrefix: 'desk', callbackUrls: ['https://desk.example'] } },
    machineClients: [{ name: 'nightly', role: 'viewer' }],
  }),
];

/** True if a statement's action pattern, such as `ec2:*Vpc*`, covers an action. */
function covers(pattern: string, action: string): boolean {
  return new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 'i').test(action);
}

/** Services whose prefix in IAM is not the service of their resource types. */
const PREFIXES: Readonly<Record<string, string>> = {
  Cognito: 'cognito-idp',
  // CloudFormation calls the function of a custom resource.
  DashboardFiles: 'lambda',
  ECR: 'ecr',
  Route53: 'route53',
  StepFunctions: 'states',
};

/** Value of a part of deploy/account.json with these parameters, as CloudFormation computes it. */
function computed(part: any, given: Readonly<Record<string, string>>): any {
  const value = (each: unknown) => computed(each, given);
  if (Array.isArray(part)) return part.map(value).filter((each) => each !== undefined);
  if (typeof part !== 'object') return part;
  const [[name, of]] = Object.entries<any>(part) as [[string, any]];
  switch (name) {
    case 'Ref':
      return of === 'AWS::NoValue' ? undefined : (given[of] ?? Parameters[of]!.Default);
    case 'Fn::If':
      return value(value(Conditions[of[0]]) ? of[1] : of[2]);
    case 'Fn::Not':
      return !value(of[0]);
    case 'Fn::Equals':
      return value(of[0]) === value(of[1]);
    case 'Fn::Split':
      return value(of[1]).split(of[0]);
    case 'Fn::Select':
      return value(of[1])[of[0]];
    case 'Fn::Sub': {
      const [text, names] = [of].flat();
      return text.replaceAll(/\$\{(\w+)\}/g, (_: string, key: string) => value(names?.[key] ?? { Ref: key }));
    }
    default:
      return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, value(each)]));
  }
}

describe('permissions of deployments', () => {
  test('policy names the service of every resource type', () => {
    const types = new Set(stages.flatMap(({ resources }) => [...resources.values()].map(({ Type }) => Type)));
    expect(types.size).toBeGreaterThan(50);
    const allowed = new Set(deploy.flatMap((each) => actionsOf(each).map((action) => action.split(':')[0])));
    for (const type of types) {
      const service = type.split('::')[1]!;
      expect(allowed, type).toContain(PREFIXES[service] ?? service.toLowerCase());
    }
  });

  test('policy allows neither everything nor roles without the boundary', () => {
    const patterns = deploy.flatMap(actionsOf);
    expect(
      patterns.filter((pattern) => /^\*|^(iam|ec2|ssm|sts|organizations|route53):\*$/.test(pattern)),
    ).toEqual([]);
    const widening = [
      'iam:CreateRole',
      'iam:PutRolePolicy',
      'iam:AttachRolePolicy',
      'iam:PutRolePermissionsBoundary',
    ];
    for (const action of [
      ...widening,
      'iam:CreateUser',
      'iam:CreatePolicyVersion',
      'iam:DeleteRolePermissionsBoundary',
    ]) {
      const allowing = deploy.filter((each) => actionsOf(each).some((pattern) => covers(pattern, action)));
      const conditions = allowing.map(({ Condition }) => Condition);
      const bounded = { StringEquals: { 'iam:PermissionsBoundary': { Ref: 'Boundary' } } };
      expect(conditions, action).toEqual(widening.includes(action) ? [bounded] : []);
    }
  });

  test('roles may be passed to exactly the services of the stacks', () => {
    const [pass] = deploy.filter((each) => actionsOf(each).includes('iam:PassRole'));
    const allowed = (pass!.Condition!.StringEquals as any)['iam:PassedToService'];
    const services = stages.flatMap((stage) =>
      ofType(stage, 'AWS::IAM::Role').flatMap(([, { Properties }]) =>
        Properties.AssumeRolePolicyDocument.Statement.map(({ Principal }: any) => Principal.Service),
      ),
    );
    expect(allowed).toEqual(expect.arrayContaining([...new Set(services)]));
  });

  test('functions and roles have no name, so that theirs begins with that of their stack', () => {
    for (const stage of stages) {
      for (const [id, { Properties }] of ofType(stage, 'AWS::IAM::Role'))
        expect(Properties.RoleName, id).toBeUndefined();
      for (const [id, { Properties }] of ofType(stage, 'AWS::Lambda::Function')) {
        expect(Properties.FunctionName, id).toBeUndefined();
      }
    }
  });
});

describe('boundary of roles', () => {
  test('boundary allows every action that a role of the stacks needs', () => {
    const patterns = boundary.filter(({ Effect }) => Effect === 'Allow').flatMap(actionsOf);
    const needed = new Set(stages.flatMap(statements).flatMap(({ statement }) => actionsOf(statement)));
    expect(needed.size).toBeGreaterThan(40);
    for (const action of needed) {
      expect(
        patterns.some((pattern) => covers(pattern, action)),
        action,
      ).toBe(true);
    }
    expect(patterns.filter((pattern) => /^(iam|sts|\*)/.test(pattern))).toEqual(['iam:PassRole']);
  });

  test('every role of a stage with permissionsBoundary has it', () => {
    const roles = ofType(example, 'AWS::IAM::Role');
    expect(roles.length).toBeGreaterThan(20);
    for (const [id, { Properties }] of roles) {
      expect(JSON.stringify(Properties.PermissionsBoundary), id).toContain(':policy/touchstone-boundary');
    }
    expect(Resources.Boundary!.Properties.ManagedPolicyName).toBe('touchstone-boundary');
    for (const [, { Properties }] of ofType(templatesOf('dev'), 'AWS::IAM::Role')) {
      expect(Properties.PermissionsBoundary).toBeUndefined();
    }
  });
});

describe('template of the account', () => {
  test('template is complete, and its policies are below the limit of IAM', () => {
    const stack = new Stack(new App(), 'Account');
    new CfnInclude(stack, 'Template', { templateFile: join(ROOT, 'deploy/account.json') });
    expect(Object.keys(Template.fromStack(stack).toJSON().Resources)).toHaveLength(5);
    for (const policy of [deploy, boundary]) expect(JSON.stringify(policy).length).toBeLessThan(6_000);
  });

  test('service-linked role of ECS is created on request only, and outlives the stack', () => {
    const { Condition, DeletionPolicy, Properties } = Resources.EcsServiceRoleOfAccount as Resource & {
      Condition: string;
    };
    expect([DeletionPolicy, Properties.AWSServiceName]).toEqual([
      'RetainExceptOnCreate',
      'ecs.amazonaws.com',
    ]);
    expect(computed(Conditions[Condition], {})).toBe(false);
    expect(computed(Conditions[Condition], { EcsServiceRole: 'create' })).toBe(true);
  });

  test.each<[string, string, string[]]>([
    ['names', '', ['repo:acme/settings:environment:prod']],
    [
      'names, and names with their IDs',
      '123456/456789',
      ['repo:acme/settings:environment:prod', 'repo:acme@123456/settings@456789:environment:prod'],
    ],
  ])("pipeline's role trusts one environment of one repository by %s", (_, RepositoryIds, subjects) => {
    const [{ Condition }] = Resources.Pipeline!.Properties.AssumeRolePolicyDocument.Statement;
    const given = { Repository: 'acme/settings', Environment: 'prod', RepositoryIds };
    expect(computed(Condition, given)).toEqual({
      StringEquals: {
        'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
        'token.actions.githubusercontent.com:sub': subjects,
      },
    });
  });

  test.each(['*/*', '1/*', '*', '1', '1/', '/1', '1/2/3', 'a/b'])('%s are not IDs of a repository', (ids) => {
    const { AllowedPattern } = Parameters.RepositoryIds!;
    expect(ids).not.toMatch(new RegExp(AllowedPattern!));
    expect('123456/456789').toMatch(new RegExp(AllowedPattern!));
  });

  test("pipeline's role uses the roles of cdk bootstrap only", () => {
    const { Policies } = Resources.Pipeline!.Properties;
    const [statement, ...more] = Policies[0].PolicyDocument.Statement;
    expect(more).toEqual([]);
    expect(statement.Action).toBe('sts:AssumeRole');
    for (const resource of statement.Resource) {
      expect(resource['Fn::Sub']).toMatch(/:role\/cdk-\$\{Qualifier\}-[a-z-]+-role-\$\{AWS::AccountId\}-\*$/);
    }
    expect(Parameters.Repository!.Default).toBe('');
  });
});

describe('docs/examples/github-actions.yml', () => {
  const workflow = read('docs/examples/github-actions.yml');
  const { scripts, devDependencies } = JSON.parse(read('package.json'));

  test('pipeline deploys with the CLI of this repository and runs scripts that exist', () => {
    expect(/aws-cdk@(\S+)/.exec(workflow)![1]).toBe(devDependencies['aws-cdk']);
    for (const [, script] of workflow.matchAll(/npm run (\S+)/g)) expect(scripts).toHaveProperty(script!);
  });

  test('pipeline promotes one assembly dev, test, prod, each in its environment', () => {
    expect(workflow.match(/cdk synth/g)).toHaveLength(1);
    const jobs = [...workflow.matchAll(/^ {2}(\w+):\n {4}needs: (\w+)\n.*\n {4}environment: (\w+)/gm)];
    expect(jobs.map(([, ...names]) => names)).toEqual([
      ['dev', 'assemble', 'dev'],
      ['test', 'dev', 'test'],
      ['prod', 'test', 'prod'],
    ]);
  });

  test('health check reads outputs that the platform stack has', () => {
    for (const [, name] of workflow.matchAll(/\.key == "(\w+)"/g)) {
      expect(example.platform.findOutputs(name!), name).toHaveProperty(name!);
    }
  });
});
