import { describe, expect, test } from 'vitest';
import { TABLES } from '#contract/values/tables.ts';
import { ofType, type Resource, statements, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const keys = ({ KeySchema }: Resource['Properties']) =>
  KeySchema.map((each: Resource['Properties']) => `${each.KeyType} ${each.AttributeName}`);

const dev = templatesOf('dev');
const prod = templatesOf('prod');

describe.each([dev, prod])('tables of $config.stage', (stage) => {
  const tables = ofType(stage, 'AWS::DynamoDB::GlobalTable').map(([, table]) => table);

  test('tables have the keys and indexes of the contract', () => {
    const found = tables.map(({ Properties }) => ({
      key: keys(Properties),
      indexes: (Properties.GlobalSecondaryIndexes ?? []).map((index: Resource['Properties']) => ({
        name: index.IndexName,
        key: keys(index),
        include: index.Projection.NonKeyAttributes ?? [],
        projection: index.Projection.ProjectionType,
      })),
      types: Object.fromEntries(
        Properties.AttributeDefinitions.map((each: Resource['Properties']) => [
          each.AttributeName,
          each.AttributeType,
        ]),
      ),
    }));
    const wanted = Object.values(TABLES).map((table) => {
      const indexes: readonly (typeof TABLES.jobs.indexes)[number][] = table.indexes as never;
      const attributes = [table, ...indexes].flatMap((each) => [each.partitionKey, each.sortKey]);
      return {
        key: [`HASH ${table.partitionKey.name}`, `RANGE ${table.sortKey.name}`],
        indexes: indexes.map((index) => ({
          name: index.name,
          key: [`HASH ${index.partitionKey.name}`, `RANGE ${index.sortKey.name}`],
          include: [...index.include],
          projection: index.include.length === 0 ? 'KEYS_ONLY' : 'INCLUDE',
        })),
        types: Object.fromEntries(attributes.map(({ name, type }) => [name, type])),
      };
    });
    expect(found).toEqual(wanted);
  });

  test('tables delete expired items', () => {
    const expiring = tables.map(
      ({ Properties }) => Properties.TimeToLiveSpecification?.AttributeName ?? null,
    );
    expect(expiring).toEqual(['expires_at', 'expires_at', null]);
  });

  test('tables have point-in-time recovery, encryption and on-demand billing', () => {
    expect(tables).toHaveLength(3);
    for (const { Properties } of tables) {
      expect(Properties.BillingMode).toBe('PAY_PER_REQUEST');
      expect(Properties.SSESpecification).toEqual({ SSEEnabled: true, SSEType: 'KMS' });
      for (const replica of Properties.Replicas) {
        expect(replica.PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true });
      }
    }
  });
});

describe.each([dev, prod])('buckets of $config.stage', (stage) => {
  const buckets = ofType(stage, 'AWS::S3::Bucket');

  test('buckets block public access and are encrypted', () => {
    expect(buckets).toHaveLength(5);
    for (const [, { Properties }] of buckets) {
      expect(Object.values(Properties.PublicAccessBlockConfiguration)).toEqual([true, true, true, true]);
      expect(Properties.BucketEncryption).toBeDefined();
    }
  });

  test('buckets deny requests without TLS', () => {
    for (const [id] of buckets) {
      const policy = ofType(stage, 'AWS::S3::BucketPolicy').find(
        ([, { Properties }]) => Properties.Bucket.Ref === id,
      );
      expect(policy?.[1].Properties.PolicyDocument.Statement).toContainEqual(
        expect.objectContaining({
          Effect: 'Deny',
          Action: 's3:*',
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        }),
      );
    }
  });

  test('buckets of results and candles keep noncurrent versions for 30 days', () => {
    const versioned = buckets.filter(([, each]) => each.Properties.VersioningConfiguration);
    expect(versioned).toHaveLength(2);
    for (const [, { Properties }] of versioned) {
      const [rule] = Properties.LifecycleConfiguration.Rules;
      expect(rule.NoncurrentVersionExpiration).toEqual({ NoncurrentDays: 30 });
    }
  });
});

describe('data for years', () => {
  const years = synthesize('prod', {
    env: { account: '111122223333', region: 'eu-west-1' },
    retention: { results: 30, trials: null, jobs: 60, audit: 700, previousObjects: 7, accessLog: null },
    backup: { dailyDays: 14, monthlyDays: 400, buckets: true, copyToRegion: 'eu-central-1' },
    restoredTables: { jobs: 'Jobs-restored-1' },
  });
  const rulesOf = (stage: typeof prod, id: string) => {
    const [bucket] = ofType(stage, 'AWS::S3::Bucket').filter(([each]) => each.startsWith(id));
    return bucket![1].Properties.LifecycleConfiguration?.Rules as any[] | undefined;
  };

  test('objects expire as the settings say', () => {
    expect(rulesOf(years, 'Candles')![0].NoncurrentVersionExpiration).toEqual({ NoncurrentDays: 7 });
    expect(rulesOf(years, 'AccessLog')).toBeUndefined();
    expect(rulesOf(prod, 'AccessLog')![0].ExpirationInDays).toBe(90);
  });

  test('inputs and outputs of registered images expire after a week', () => {
    expect(rulesOf(prod, 'Runs')).toEqual([
      expect.objectContaining({
        ExpirationInDays: 7,
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
      }),
    ]);
  });

  test('large results move to Intelligent-Tiering in production and stay in development', () => {
    const moves = (stage: typeof prod) => rulesOf(stage, 'Results')!.filter(({ Transitions }) => Transitions);
    expect(moves(dev)).toEqual([]);
    expect(moves(prod)).toEqual([
      expect.objectContaining({
        ObjectSizeGreaterThan: 131071,
        Transitions: [{ StorageClass: 'INTELLIGENT_TIERING', TransitionInDays: 30 }],
      }),
    ]);
  });

  test('no rule deletes a current version of results or candles, but those of the canary and exports', () => {
    const rules = [...rulesOf(years, 'Results')!, ...rulesOf(years, 'Candles')!];
    const expiring = ['results/bt-CANARY', 'exports/'];
    for (const rule of rules.filter(({ Prefix }) => !expiring.includes(Prefix))) {
      expect(rule).not.toHaveProperty('ExpirationInDays');
      expect(rule).not.toHaveProperty('ExpirationDate');
    }
  });

  test('exports expire after a day with their previous versions', () => {
    expect(rulesOf(prod, 'Results')).toContainEqual(
      expect.objectContaining({
        Prefix: 'exports/',
        ExpirationInDays: 1,
        NoncurrentVersionExpiration: { NoncurrentDays: 1 },
      }),
    );
  });

  test('production backs up every table and bucket of state, development nothing', () => {
    expect(ofType(dev, 'AWS::Backup::BackupPlan')).toEqual([]);
    const [[, selection]] = ofType(prod, 'AWS::Backup::BackupSelection') as [[string, Resource]];
    const state = ['AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket']
      .flatMap((type) => ofType(prod, type))
      .filter(([id]) => !/^(AccessLog|Runs|WebFiles)/.test(id));
    expect(selection.Properties.BackupSelection.Resources).toEqual(
      state.map(([id]) => ({ 'Fn::GetAtt': [id, 'Arn'] })),
    );
  });

  test('backups are kept as long as the settings say and copied to the second region', () => {
    const [[, plan]] = ofType(years, 'AWS::Backup::BackupPlan') as [[string, Resource]];
    const rules = plan.Properties.BackupPlan.BackupPlanRule;
    const copies = 'arn:aws:backup:eu-central-1:111122223333:backup-vault:touchstone-prod-copies';
    expect(rules.map((rule: Resource['Properties']) => [rule.RuleName, rule.Lifecycle])).toEqual([
      ['Daily', { DeleteAfterDays: 14 }],
      ['Monthly', { DeleteAfterDays: 400 }],
    ]);
    for (const rule of rules) {
      expect(rule.CopyActions).toEqual([{ DestinationBackupVaultArn: copies, Lifecycle: rule.Lifecycle }]);
    }
  });

  test('platform uses the restored table and keeps the others', () => {
    const tables = new Set(
      ofType(years, 'AWS::Lambda::Function').map(([, each]) =>
        JSON.stringify(each.Properties.Environment?.Variables.JOBS_TABLE),
      ),
    );
    expect([...tables].filter((each) => each !== undefined)).toEqual(['"Jobs-restored-1"']);
    expect(ofType(years, 'AWS::DynamoDB::GlobalTable')).toHaveLength(3);
    expect(JSON.stringify(statements(years))).toContain(
      ':dynamodb:eu-west-1:111122223333:table/Jobs-restored-1/index/by-list',
    );
  });
});

describe('protection', () => {
  const stateful = (stage: typeof prod) =>
    ['AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket', 'AWS::Cognito::UserPool'].flatMap((type) =>
      // The dashboard's bucket has the output of a build.
      ofType(stage, type).filter(([id]) => !id.startsWith('WebFiles')),
    );

  test('production retains its state when the stack is deleted', () => {
    expect(stateful(prod)).toHaveLength(8);
    for (const [id, { Type, DeletionPolicy, UpdateReplacePolicy }] of stateful(prod)) {
      // CloudFormation could not delete a protected table or pool when a creation fails.
      const policy = Type === 'AWS::S3::Bucket' ? 'RetainExceptOnCreate' : 'Retain';
      expect([DeletionPolicy, UpdateReplacePolicy], id).toEqual([policy, 'Retain']);
    }
    for (const [id, { Properties }] of ofType(prod, 'AWS::DynamoDB::GlobalTable')) {
      for (const replica of Properties.Replicas) expect(replica.DeletionProtectionEnabled, id).toBe(true);
    }
    prod.data.hasResourceProperties('AWS::Cognito::UserPool', { DeletionProtection: 'ACTIVE' });
  });

  test('name of what outlives its stack ends with the ID of the stack or is generated, so that the next one is free', () => {
    const suffix = { 'Fn::Select': [2, { 'Fn::Split': ['/', { Ref: 'AWS::StackId' }] }] };
    const digits = { 'Fn::Select': [0, { 'Fn::Split': ['-', suffix] }] };
    const retained = [...prod.resources].filter(([, { DeletionPolicy }]) =>
      DeletionPolicy?.startsWith('Retain'),
    );
    const named = retained.flatMap(([id, { Type, Properties = {} }]) => {
      const name = Properties[`${Type.split('::')[2]}Name`];
      return name === undefined ? [] : [[id.slice(0, 7), name] as const];
    });
    expect(retained.length).toBeGreaterThan(30);
    expect(named).toEqual([
      ['Backups', { 'Fn::Join': ['', ['touchstone-prod-data-', digits]] }],
      ...['Backtes', 'Hyperop'].map((id) => [
        id,
        {
          'Fn::Join': [
            '',
            [
              `/aws/vendedlogs/states/touchstone-prod-platform-${id === 'Backtes' ? 'backtest' : 'hyperopt'}-`,
              digits,
            ],
          ],
        },
      ]),
    ]);
  });

  test('development can be deleted', () => {
    for (const [id, resource] of stateful(dev)) expect(resource.DeletionPolicy, id).toBe('Delete');
  });
});

describe('users', () => {
  test('production has a group per role and optional MFA', () => {
    const groups = ofType(prod, 'AWS::Cognito::UserPoolGroup').map(([, each]) => each.Properties.GroupName);
    expect(groups.sort()).toEqual(['admin', 'approver', 'researcher', 'viewer']);
    prod.data.hasResourceProperties('AWS::Cognito::UserPool', {
      MfaConfiguration: 'OPTIONAL',
      EnabledMfas: ['SOFTWARE_TOKEN_MFA'],
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
    });
  });

  test('passwords need 12 mixed characters, and the temporary one expires', () => {
    prod.data.hasResourceProperties('AWS::Cognito::UserPool', {
      Policies: {
        PasswordPolicy: {
          MinimumLength: 12,
          RequireLowercase: true,
          RequireUppercase: true,
          RequireNumbers: true,
          RequireSymbols: true,
          TemporaryPasswordValidityDays: 3,
        },
      },
    });
  });

  test('client without a secret issues tokens of one hour for a password', () => {
    const [client, ...more] = ofType(prod, 'AWS::Cognito::UserPoolClient').map(([, each]) => each.Properties);
    expect(more).toEqual([]);
    expect(client).toMatchObject({
      PreventUserExistenceErrors: 'ENABLED',
      AccessTokenValidity: 60,
      RefreshTokenValidity: 720,
      TokenValidityUnits: { AccessToken: 'minutes', RefreshToken: 'minutes' },
    });
    expect([...client!.ExplicitAuthFlows].sort()).toEqual([
      'ALLOW_REFRESH_TOKEN_AUTH',
      'ALLOW_USER_PASSWORD_AUTH',
      'ALLOW_USER_SRP_AUTH',
    ]);
    expect(client).not.toHaveProperty('GenerateSecret', true);
  });

  test('sign-in pages exist only if configured, for the code grant only', () => {
    expect(ofType(prod, 'AWS::Cognito::UserPoolDomain')).toEqual([]);
    prod.data.hasResourceProperties('AWS::Cognito::UserPoolClient', {
      AllowedOAuthFlowsUserPoolClient: false,
    });
    const callbackUrls = ['https://desk.example/signed-in'];
    const stage = synthesize('prod', {
      identity: { kind: 'own', hostedUi: { domainPrefix: 'desk', callbackUrls } },
    });
    expect(ofType(stage, 'AWS::Cognito::UserPoolResourceServer')).toEqual([]);
    stage.data.hasResourceProperties('AWS::Cognito::UserPoolDomain', { Domain: 'desk' });
    stage.data.hasResourceProperties('AWS::Cognito::UserPoolClient', {
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid'],
      CallbackURLs: callbackUrls,
    });
  });

  describe('machine clients', () => {
    const stage = synthesize('dev', {
      machineClients: [
        { name: 'nightly-run', role: 'researcher' },
        { name: 'report', role: 'viewer' },
      ],
    });
    const clients = ofType(stage, 'AWS::Cognito::UserPoolClient').filter(([id]) => /MachineClient/.test(id));

    test('each has a secret, the scope of its role and no sign-in of users', () => {
      expect(
        clients.map(([, { Properties }]) => [Properties.ClientName, Properties.AllowedOAuthScopes]),
      ).toEqual([
        ['nightly-run', [{ 'Fn::Join': ['', [{ Ref: expect.stringMatching(/Roles/) }, '/researcher']] }]],
        ['report', [{ 'Fn::Join': ['', [{ Ref: expect.stringMatching(/Roles/) }, '/viewer']] }]],
      ]);
      for (const [id, { Properties }] of clients) {
        expect(Properties, id).toMatchObject({
          GenerateSecret: true,
          AllowedOAuthFlows: ['client_credentials'],
          ExplicitAuthFlows: ['ALLOW_REFRESH_TOKEN_AUTH'],
          AccessTokenValidity: 60,
        });
      }
    });

    test('every service accepts their tokens, and outputs say where to get one', () => {
      const environments = [
        ...ofType(stage, 'AWS::Lambda::Function').map(
          ([, each]) => each.Properties.Environment?.Variables ?? {},
        ),
        ...ofType(stage, 'AWS::ECS::TaskDefinition').map(([, each]) =>
          Object.fromEntries(
            each.Properties.ContainerDefinitions[0].Environment.map(({ Name, Value }: any) => [Name, Value]),
          ),
        ),
      ];
      for (const service of ['BACKEND', 'STRATEGY', 'DATA_COLLECTION']) {
        const accepting = environments.filter((each) => each[`${service}_IDP_USER_POOL_ID`]);
        expect(accepting.length, service).toBeGreaterThan(0);
        for (const each of accepting) {
          const ids = JSON.stringify(each[`${service}_IDP_MACHINE_CLIENT_IDS`]);
          for (const name of ['NightlyRun', 'Report']) expect(ids, service).toContain(name);
        }
      }
      const outputs = stage.data.findOutputs('*');
      expect(outputs.MachineClientNightlyRun!.Value).toEqual({ Ref: clients[0]![0] });
      expect(JSON.stringify(outputs.TokenUrl!.Value)).toMatch(/https:\/\/.*\/oauth2\/token/);
      stage.data.hasResourceProperties('AWS::Cognito::UserPoolDomain', {
        Domain: { 'Fn::Join': ['', ['touchstone-dev-', { Ref: 'AWS::AccountId' }]] },
      });
    });
  });

  test('stack outputs the pool and its client', () => {
    const value = (stage: typeof prod, name: string) => stage.data.findOutputs(name)[name]?.Value;
    const ids = (type: string) => ofType(prod, type).map(([id]) => ({ Ref: id }));
    expect([value(prod, 'UserPoolId')]).toEqual(ids('AWS::Cognito::UserPool'));
    expect([value(prod, 'UserPoolClientId')]).toEqual(ids('AWS::Cognito::UserPoolClient'));
  });

  test.each([dev, prod])('$config.stage has its own users', (stage) => {
    expect(ofType(stage, 'AWS::Cognito::UserPool')).toHaveLength(1);
  });

  test('existing pool is used instead of a new one', () => {
    const pool = { userPoolId: 'eu-west-1_abc', clientId: 'client', region: 'eu-west-1' };
    const stage = synthesize('prod', { identity: { kind: 'existing', ...pool } });
    expect(ofType(stage, 'AWS::Cognito::UserPool')).toEqual([]);
    const environments = ofType(stage, 'AWS::Lambda::Function').map(
      ([, each]) => each.Properties.Environment.Variables,
    );
    expect(environments).toContainEqual(
      expect.objectContaining({
        BACKEND_IDP_USER_POOL_ID: pool.userPoolId,
        BACKEND_IDP_CLIENT_ID: pool.clientId,
        BACKEND_IDP_REGION: pool.region,
      }),
    );
    const containers = ofType(stage, 'AWS::ECS::TaskDefinition').flatMap(
      ([, each]) => each.Properties.ContainerDefinitions[0].Environment,
    );
    expect(containers).toEqual(
      expect.arrayContaining([
        { Name: 'DATA_COLLECTION_IDP_USER_POOL_ID', Value: pool.userPoolId },
        { Name: 'DATA_COLLECTION_IDP_CLIENT_ID', Value: pool.clientId },
        { Name: 'DATA_COLLECTION_IDP_REGION', Value: pool.region },
      ]),
    );
  });
});
