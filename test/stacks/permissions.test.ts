import { describe, expect, test } from 'vitest';
import { actionsOf, ofType, statements, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const dev = templatesOf('dev');
const prod = templatesOf('prod');

/** Actions for which AWS accepts no resource; cdk-nag requires a reason for each. */
const WITHOUT_RESOURCE = new Set([
  'dynamodb:ListStreams',
  'ecs:DescribeTaskDefinition',
  'ecr:GetAuthorizationToken',
  'ec2:CreateNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
]);

describe.each([dev, prod])('permissions of $config.stage', (stage) => {
  const all = statements(stage);

  test('no policy grants actions by wildcard', () => {
    expect(all.length).toBeGreaterThan(20);
    for (const { id, statement } of all) expect(actionsOf(statement).join(), id).not.toContain('*');
  });

  test('policies name the resource wherever AWS accepts one', () => {
    for (const { id, statement } of all) {
      if (statement.Resource !== '*') continue;
      const unexpected = actionsOf(statement).filter(
        (action) => !WITHOUT_RESOURCE.has(action) && !/^(xray:|logs:)/.test(action),
      );
      expect(unexpected, id).toEqual([]);
    }
  });

  test('backend writes no objects but exports and signals', () => {
    const own = all.filter(({ id }) => id.startsWith('BackendRole')).map(({ statement }) => statement);
    expect(own.length).toBeGreaterThan(5);
    const writes = own.filter((each) => actionsOf(each).some((action) => /^s3:(Put|Delete)/.test(action)));
    expect(writes.map(actionsOf)).toEqual([['s3:PutObject'], ['s3:DeleteObject', 's3:PutObject']]);
    expect(JSON.stringify(writes[0]!.Resource)).toMatch(/"\/exports\/\*"/);
    expect(JSON.stringify(writes[1]!.Resource)).toMatch(/"\/signals\/\*"/);
  });

  test.each([
    ['BacktestFlow', ['BacktestTask', 'CollectTask', 'ImageTask']],
    ['HyperoptFlow', ['CollectTask', 'HyperoptTask']],
  ])('workflow %s may run %j', (flow, ownTasks) => {
    const own = all.filter(({ id }) => id.startsWith(`${flow}Role`)).map(({ statement }) => statement);
    const allowed = (action: string) => own.filter((each) => actionsOf(each).includes(action));
    expect(allowed('ecs:RunTask')[0]!.Condition).toHaveProperty(['ArnEquals', 'ecs:cluster']);
    expect(allowed('ecs:RunTask')[0]!.Resource).toHaveLength(ownTasks.length);
    // Any revision: an execution that a deployment overtakes starts an earlier one.
    expect(JSON.stringify(allowed('ecs:RunTask')[0]!.Resource)).toMatch(/TaskDefinition\w*:\*/);
    for (const action of ['ecs:RunTask', 'iam:PassRole']) {
      const resources = JSON.stringify(allowed(action)[0]!.Resource);
      const tasks = new Set(
        resources.match(/(Backtest|Hyperopt|Collect|DataCollection|Image)Task(?=Definition)/g),
      );
      expect(tasks, action).toEqual(new Set(ownTasks));
    }
    for (const action of ['ecs:StopTask', 'ecs:DescribeTasks']) {
      expect(JSON.stringify(allowed(action)[0]!.Resource), action).toMatch(/:task\/.*Cluster.*\/\*/);
    }
    expect(allowed('iam:PassRole')[0]).toMatchObject({
      Condition: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
    });
    expect(allowed('iam:PassRole')[0]!.Resource).toHaveLength(2 * ownTasks.length);
    for (const action of ['events:PutTargets', 'events:PutRule', 'events:DescribeRule']) {
      expect(JSON.stringify(allowed(action)[0]!.Resource)).toContain(
        'rule/StepFunctionsGetEventsForECSTaskRule',
      );
    }
    expect(allowed('dynamodb:UpdateItem')).toHaveLength(1);
    expect(allowed('lambda:InvokeFunction')).toHaveLength(1);
  });

  test('functions and tasks may write only their tables', () => {
    const writers = all.flatMap(({ id, statement }) => {
      const writes = actionsOf(statement).filter((action) => WRITES.test(action));
      if (writes.length === 0 || statement.Effect === 'Deny') return [];
      const role = shortRole(id);
      // CDK merges tables with the same allowed actions into one statement.
      const tables = new Set(JSON.stringify(statement.Resource).match(/Jobs|Registry|Series/g));
      expect(tables.size, role).toBeGreaterThan(0);
      return [...tables].map((table) => `${role} ${table}: ${shortNames(writes)}`);
    });
    expect(writers.sort()).toEqual([
      'BackendRole Jobs: DeleteItem',
      'BackendRole Jobs: PutItem UpdateItem',
      'BackendRole Registry: PutItem UpdateItem',
      'BacktestFlowRole Jobs: UpdateItem',
      'BacktestTaskDefinitionTaskRole Jobs: PutItem UpdateItem',
      'BacktestTaskDefinitionTaskRole Jobs: UpdateItem',
      'BacktestTaskDefinitionTaskRole Series: PutItem UpdateItem',
      'CollectTaskDefinitionTaskRole Jobs: UpdateItem',
      'CollectTaskDefinitionTaskRole Series: PutItem UpdateItem',
      'DataCollectionTaskDefinitionTaskRole Registry: PutItem',
      'DataCollectionTaskDefinitionTaskRole Series: PutItem UpdateItem',
      'DispatcherServiceRole Jobs: DeleteItem',
      'DispatcherServiceRole Jobs: PutItem UpdateItem',
      'DispatcherServiceRole Jobs: PutItem UpdateItem',
      'DispatcherServiceRole Registry: PutItem UpdateItem',
      'FastLaneBacktestRole Jobs: PutItem UpdateItem',
      'FastLaneBacktestRole Jobs: UpdateItem',
      'FastLaneBacktestRole Series: PutItem UpdateItem',
      'FastLaneCollectRole Jobs: UpdateItem',
      'FastLaneCollectRole Series: PutItem UpdateItem',
      'HyperoptFlowRole Jobs: UpdateItem',
      'HyperoptTaskDefinitionTaskRole Jobs: PutItem UpdateItem',
      'HyperoptTaskDefinitionTaskRole Jobs: PutItem UpdateItem',
      'HyperoptTaskDefinitionTaskRole Series: PutItem UpdateItem',
      'ImageRunServiceRole Jobs: PutItem UpdateItem',
      'ImageRunServiceRole Jobs: UpdateItem',
      'ImageRunServiceRole Series: PutItem UpdateItem',
      'RepairServiceRole Jobs: DeleteItem',
      'RepairServiceRole Jobs: DeleteItem',
      'RepairServiceRole Jobs: PutItem',
      'RepairServiceRole Jobs: PutItem UpdateItem',
      'RepairServiceRole Jobs: PutItem UpdateItem',
      'RepairServiceRole Jobs: UpdateItem',
      'RepairServiceRole Registry: PutItem UpdateItem',
      'StrategyServiceRole Jobs: PutItem UpdateItem',
      'StrategyServiceRole Jobs: UpdateItem',
      'StrategyServiceRole Registry: PutItem UpdateItem',
      'TableEventsServiceRole Jobs: PutItem',
      'WebhooksServiceRole Jobs: DeleteItem',
      'WebhooksServiceRole Jobs: PutItem',
      'WebhooksServiceRole Jobs: UpdateItem',
    ]);
  });

  test('one function may register task definitions, with the roles of registered images only', () => {
    const makers = all.filter(({ statement }) => actionsOf(statement).includes('ecs:RegisterTaskDefinition'));
    expect(makers.map(({ id }) => shortRole(id))).toEqual(['TaskImageServiceRole']);
    const family = /:task-definition\/\w*ImageTaskDefinition\w*-image-\*:\*/;
    expect(JSON.stringify(makers[0]!.statement.Resource)).toMatch(family);
    const own = all.filter(({ id }) => id.startsWith('TaskImage'));
    const passed = own.filter(({ statement }) => actionsOf(statement).includes('iam:PassRole'));
    expect(JSON.stringify(passed.map(({ statement }) => statement.Resource)).match(/\w+Role/g)).toEqual([
      'ImageTaskDefinitionExecutionRole',
      'ImageTaskDefinitionTaskRole',
    ]);
    const run = all.filter(({ statement }) => actionsOf(statement).includes('ecs:RunTask'));
    expect(JSON.stringify(run[0]!.statement.Resource)).toMatch(family);
  });

  test('no role can update or delete audit items', () => {
    const onRegistry = all.filter(
      ({ statement }) =>
        /Registry/.test(JSON.stringify(statement.Resource)) &&
        // The function reads the stream of the table, and nothing of the table.
        !actionsOf(statement).includes('dynamodb:GetRecords'),
    );
    const roles = new Set(onRegistry.map(({ id }) => id));
    expect(roles.size).toBeGreaterThanOrEqual(4);
    for (const role of roles) {
      const denied = onRegistry.filter(({ id, statement }) => id === role && statement.Effect === 'Deny');
      expect(denied.map(({ statement }) => [statement.Action, statement.Condition])).toEqual([
        [
          ['dynamodb:DeleteItem', 'dynamodb:UpdateItem'],
          { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': 'AUDIT#*' } },
        ],
      ]);
    }
    const deletes = all.filter(
      ({ statement }) =>
        statement.Effect === 'Allow' &&
        /Delete|Batch?Write|PartiQL/.test(
          actionsOf(statement)
            .filter((action) => action.startsWith('dynamodb:'))
            .join(),
        ),
    );
    // Slots and owners of the job queue; only repair deletes jobs, which have expired.
    const jobs = {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['bt-*', 'ho-*', '#deleted', 'sg-*'] },
    };
    const queue = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['#slots#*', '#owners#*'] } };
    // Webhooks, and entries of deliveries that have ended.
    const webhooks = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['#webhooks', 'sg-*'] } };
    const pending = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': '#pending#*' } };
    expect(deletes.map(({ id, statement }) => [shortRole(id), statement.Condition])).toEqual([
      ['RepairServiceRole', queue],
      ['RepairServiceRole', jobs],
      ['WebhooksServiceRole', pending],
      ['DispatcherServiceRole', queue],
      ['BackendRole', webhooks],
    ]);
  });

  test('data collection may only add audit items to the Registry table, and query the catalog', () => {
    const own = all.filter(
      ({ id, statement }) =>
        id.startsWith('DataCollectionTaskDefinitionTaskRole') &&
        statement.Effect === 'Allow' &&
        /Registry/.test(JSON.stringify(statement.Resource)),
    );
    expect(own.map(({ statement }) => [statement.Action, statement.Condition])).toEqual([
      ['dynamodb:PutItem', { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': 'AUDIT#*' } }],
      ['dynamodb:Query', undefined],
    ]);
    expect(JSON.stringify(own[1]!.statement.Resource)).toContain('/index/catalog-by-name');
  });

  test.each([
    ['BackendRole', 'Registry'],
    ['StrategyServiceRole', 'Registry'],
    ['DataCollectionTaskDefinitionTaskRole', 'Series'],
  ])('%s may read and make the key of cursors in the table %s', (role, table) => {
    const own = all.filter(
      ({ id, statement }) =>
        shortRole(id) === role &&
        statement.Effect === 'Allow' &&
        !statement.Condition &&
        JSON.stringify(statement.Resource).includes(table),
    );
    const actions = own.flatMap(({ statement }) => actionsOf(statement));
    expect(actions).toEqual(expect.arrayContaining(['dynamodb:GetItem', 'dynamodb:PutItem']));
  });

  test('only the listed roles may read the registry', () => {
    const readers = all.filter(
      ({ statement }) =>
        /Registry/.test(JSON.stringify(statement.Resource)) &&
        actionsOf(statement).some((action) => /Get|Query/.test(action)),
    );
    expect(new Set(readers.map(({ id }) => shortRole(id)))).toEqual(
      new Set([
        'BackendRole',
        'DataCollectionTaskDefinitionTaskRole',
        'DispatcherServiceRole',
        'JobEventsRole',
        'RepairServiceRole',
        'StrategyServiceRole',
        'TableEventsServiceRole',
        'WebhooksServiceRole',
      ]),
    );
  });
});

const shortRole = (id: string) => id.replace(/DefaultPolicy[0-9A-F]{8}$/, '');

/** True for every DynamoDB action except the listed read actions, of tables and of streams. */
const WRITES =
  /^dynamodb:(?!(Batch|Transact)?GetItems?$|Query$|Scan$|ConditionCheckItem$|DescribeTable$|DescribeStream$|GetRecords$|GetShardIterator$|ListStreams$)/;

const shortNames = (actions: readonly string[]) =>
  actions
    .map((action) => action.slice('dynamodb:'.length))
    .sort()
    .join(' ');

describe('images of registered versions', () => {
  /** Actions of a role on ECR repositories. */
  const repositories = (stage: typeof dev, role: RegExp) =>
    statements(stage)
      .filter(({ id }) => role.test(id))
      .filter(({ statement }) => actionsOf(statement).includes('ecr:DescribeImages'))
      .map(({ statement }) => JSON.stringify(statement.Resource));

  test('images are looked up by the registering services, in this account unless configured', () => {
    for (const role of [/^BackendRole/, /^StrategyServiceRole/]) {
      const [resource] = repositories(dev, role);
      expect(resource).toContain(':repository/*');
      expect(resource).toContain('AWS::AccountId');
    }
  });

  test('images are looked up and pulled from the allowed registries only', () => {
    const stage = synthesize('dev', {
      allowedRegistries: ['111122223333.dkr.ecr.eu-west-1.amazonaws.com/strategies', 'ghcr.io/desk'],
    });
    const only =
      /^\{"Fn::Join":\["",\["arn:",\{"Ref":"AWS::Partition"\},":ecr:eu-west-1:111122223333:repository\/strategies\/\*"\]\]\}$/;
    expect(repositories(stage, /^BackendRole/)).toEqual([expect.stringMatching(only)]);
    const pull = statements(stage).filter(
      ({ id, statement }) =>
        id.startsWith('ImageTaskDefinitionExecutionRole') &&
        JSON.stringify(statement.Resource).includes('strategies'),
    );
    expect(pull.flatMap(({ statement }) => actionsOf(statement)).sort()).toEqual([
      'ecr:BatchCheckLayerAvailability',
      'ecr:BatchGetImage',
      'ecr:GetDownloadUrlForLayer',
    ]);
    const allowed = ofType(stage, 'AWS::Lambda::Function').flatMap(
      ([, { Properties }]) => Properties.Environment.Variables.ALLOWED_REGISTRIES ?? [],
    );
    expect(allowed).toEqual(Array(3).fill(stage.config.allowedRegistries.join(',')));
  });
});

describe('data proxy permissions', () => {
  const permissions = (stage: typeof dev) =>
    ofType(stage, 'AWS::Lambda::Permission')
      .map(([, each]) => each.Properties)
      .filter(({ FunctionName }) => JSON.stringify(FunctionName).includes('DataProxy'))
      .filter(({ Principal }) => Principal !== 'apigateway.amazonaws.com');

  test('only its own route may invoke the data proxy unless configured', () => {
    expect(permissions(dev)).toEqual([]);
    expect(permissions(prod)).toEqual([]);
  });

  test("trusted accounts, roles and organization may invoke the data proxy's alias", () => {
    const role = 'arn:aws:iam::444455556666:role/desk/workflow';
    const stage = synthesize('dev', {
      trustedCallers: ['111122223333', role],
      trustedOrganization: 'o-abcdefghij',
    });
    expect(permissions(stage)).toHaveLength(3);
    const [account, single, organization] = permissions(stage);
    expect(single).toMatchObject({ Action: 'lambda:InvokeFunction', Principal: role });
    expect(account).toMatchObject({ Action: 'lambda:InvokeFunction', Principal: '111122223333' });
    expect(organization).toMatchObject({ Principal: '*', PrincipalOrgID: 'o-abcdefghij' });
    const aliases = ofType(stage, 'AWS::Lambda::Alias').map(([id]) => id);
    for (const { FunctionName } of permissions(stage)) expect(aliases).toContain(FunctionName.Ref);
  });

  test("stack outputs the data proxy's ARN", () => {
    const [parameter] = ofType(prod, 'AWS::SSM::Parameter')
      .map(([, { Properties }]) => Properties)
      .filter(({ Name }) => Name === '/touchstone/prod/data-proxy-arn');
    const outputs = prod.platform.findOutputs('*', {
      Description: 'Invoke this from another account or workflow',
    });
    // The Ref of an alias is its ARN with the qualifier.
    const alias = { Ref: expect.stringMatching(/^DataProxyServiceLive/) };
    expect(Object.values(outputs).map(({ Value }) => Value)).toEqual([alias]);
    expect(parameter!.Value).toEqual(alias);
    const names = ofType(prod, 'AWS::Lambda::Alias').map(([, { Properties }]) => Properties.Name);
    expect(new Set(names)).toEqual(new Set(['live']));
  });
});
