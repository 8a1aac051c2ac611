import { IDLE, METRIC_USE } from './model.ts';
import { HOURS, type PriceName, type Usage } from './prices.ts';
import type { Properties, Resources } from './templates.ts';

/** Resource types without cost while the stage is idle. lanes.ts has the cost of their use. */
const FREE_WHEN_IDLE = new Set([
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::DomainName',
  'AWS::ApiGateway::RestApi',
  'AWS::ApiGateway::Stage',
  // Backups cost by the size of the data.
  'AWS::Backup::BackupPlan',
  'AWS::Backup::BackupSelection',
  'AWS::Backup::BackupVault',
  'AWS::CloudFront::Distribution',
  'AWS::CloudFront::Function',
  'AWS::CloudFront::OriginAccessControl',
  'AWS::CloudFront::ResponseHeadersPolicy',
  'AWS::CodeDeploy::Application',
  'AWS::CodeDeploy::DeploymentConfig',
  // Deployments of functions are free.
  'AWS::CodeDeploy::DeploymentGroup',
  // A budget that only notifies.
  'AWS::Budgets::Budget',
  'AWS::Cognito::UserPool',
  'AWS::Cognito::UserPoolDomain',
  'AWS::Cognito::UserPoolGroup',
  'AWS::Cognito::UserPoolResourceServer',
  'AWS::EC2::InternetGateway',
  'AWS::EC2::Route',
  'AWS::EC2::RouteTable',
  'AWS::EC2::SecurityGroup',
  'AWS::EC2::SecurityGroupEgress',
  'AWS::EC2::SecurityGroupIngress',
  'AWS::EC2::Subnet',
  'AWS::EC2::SubnetRouteTableAssociation',
  'AWS::EC2::VPC',
  'AWS::EC2::VPCGatewayAttachment',
  'AWS::ECS::ClusterCapacityProviderAssociations',
  'AWS::ECS::TaskDefinition',
  // A bus costs per event: some per job.
  'AWS::Events::EventBus',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Version',
  'AWS::Logs::LogGroup',
  'AWS::Logs::QueryDefinition',
  'AWS::Route53::RecordSet',
  'AWS::S3::Bucket',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::Queue',
  'AWS::SQS::QueuePolicy',
  'AWS::SSM::Parameter',
  'AWS::Scheduler::ScheduleGroup',
  // Instances of a service in a DNS namespace are registered by ECS, which is free.
  'AWS::ServiceDiscovery::Service',
  'AWS::StepFunctions::StateMachine',
  'AWS::WAFv2::WebACLAssociation',
  // Deployments call its function.
  'Custom::DashboardFiles',
]);

const IDLE_METRICS = Object.values(METRIC_USE).filter((each) => each === 'idle');

type Pricer = (properties: Properties, resources: Resources) => Usage[];

/** Monthly usage of an idle resource, by type. */
const PRICED: Readonly<Record<string, Pricer>> = {
  'AWS::CloudWatch::Alarm': ({ Metrics }) => [
    use('Alarms', 'alarmMetric', Metrics ? Metrics.filter(hasMetric).length : 1),
  ],
  'AWS::CloudWatch::CompositeAlarm': () => [use('Alarms', 'compositeAlarm', 1)],
  'AWS::CloudWatch::Dashboard': () => [use('CloudWatch dashboard', 'dashboard', 1)],
  'AWS::Cognito::UserPoolClient': ({ AllowedOAuthFlows = [] }) =>
    AllowedOAuthFlows.includes('client_credentials') ? [use('Machine clients', 'machineClient', 1)] : [],
  'AWS::DynamoDB::GlobalTable': ({ BillingMode }) => {
    if (BillingMode !== 'PAY_PER_REQUEST') throw new Error('A table with provisioned capacity has no price');
    return [];
  },
  'AWS::EC2::FlowLog': () => [use('Logs of idle services', 'logIngestion', IDLE.flowLogGb)],
  'AWS::EC2::NatGateway': () => [use('NAT gateways', 'natGateway', HOURS)],
  'AWS::EC2::VPCEndpoint': ({ VpcEndpointType, SubnetIds = [] }) =>
    VpcEndpointType === 'Interface'
      ? [use('Endpoints of the isolated network', 'interfaceEndpoint', SubnetIds.length * HOURS)]
      : [],
  'AWS::ECS::Cluster': insights,
  'AWS::ECS::Service': service,
  'AWS::Events::Rule': ({ ScheduleExpression, Targets }, resources) => {
    if (ScheduleExpression === undefined) return [];
    const runs = runsPerMonth(ScheduleExpression);
    return Targets.flatMap(({ Arn }: { Arn: unknown }) => scheduled(runs, Arn, resources));
  },
  'AWS::KMS::Key': () => [use('Keys', 'key', 1)],
  'AWS::Lambda::Alias': ({ ProvisionedConcurrencyConfig }) => {
    if (ProvisionedConcurrencyConfig) throw new Error('Provisioned concurrency has no price');
    return [];
  },
  // Lambda's reads of a table's stream are free.
  'AWS::Lambda::EventSourceMapping': ({ StartingPosition }) =>
    StartingPosition === undefined ? [use('Queue polling', 'queueRequest', IDLE.queuePolls)] : [],
  'AWS::Logs::MetricFilter': () => [],
  'AWS::Scheduler::Schedule': ({ ScheduleExpression, Target }, resources) => {
    const runs = runsPerMonth(ScheduleExpression);
    return [use('Scheduled functions', 'schedule', runs), ...scheduled(runs, Target.Arn, resources)];
  },
  'AWS::SecretsManager::Secret': () => [use('Secret', 'secret', 1)],
  'AWS::ServiceDiscovery::PrivateDnsNamespace': () => [use('Private DNS zone', 'hostedZone', 1)],
  'AWS::WAFv2::WebACL': ({ Rules }) => [
    use('Firewall', 'webAcl', 1),
    use('Firewall', 'webAclRule', Rules.length),
  ],
};

/**
 * Monthly usage of a stage without requests and jobs.
 *
 * @throws Error naming the resource types that have neither a price nor an entry among the free ones
 */
export function idleUsage(resources: Resources): Usage[] {
  const types = new Set([...resources.values()].map(({ Type }) => Type));
  const unknown = [...types].filter((type) => !FREE_WHEN_IDLE.has(type) && !Object.hasOwn(PRICED, type));
  if (unknown.length > 0) {
    throw new Error(
      `Resource types without a price: ${unknown.join(', ')}. Add a price, or list them as free when idle, in lib/cost/idle.ts.`,
    );
  }
  return [
    ...[...resources.values()].flatMap(
      ({ Type, Properties = {} }) => PRICED[Type]?.(Properties, resources) ?? [],
    ),
    use('Metrics of scheduled functions', 'customMetric', IDLE_METRICS.length),
    ...filterMetrics(resources),
  ];
}

function use(item: string, price: PriceName, quantity: number): Usage {
  return { item, price, quantity };
}

const hasMetric = ({ MetricStat }: { MetricStat?: unknown }) => MetricStat !== undefined;

/** Several filters may count into one metric. Each is priced as if its log had an event in every hour. */
function filterMetrics(resources: Resources): Usage[] {
  const names = new Set(
    [...resources.values()]
      .filter(({ Type }) => Type === 'AWS::Logs::MetricFilter')
      .flatMap(({ Properties }) => Properties!.MetricTransformations)
      // With dimensions a filter publishes only lines that match it, and none in an idle stage.
      .filter(({ Dimensions }) => Dimensions === undefined)
      .map(({ MetricNamespace, MetricName }) => `${MetricNamespace} ${MetricName}`),
  );
  return names.size === 0 ? [] : [use('Metrics of log filters', 'customMetric', names.size)];
}

/** Container Insights while no job runs. */
function insights({ ClusterSettings = [] }: Properties, resources: Resources): Usage[] {
  const { Value } = ClusterSettings.find(({ Name }: { Name: string }) => Name === 'containerInsights') ?? {};
  if (Value === undefined || Value === 'disabled') return [];
  if (Value !== 'enabled') throw new Error(`Container Insights "${Value}" has no price`);
  const services = [...resources.values()].filter(({ Type }) => Type === 'AWS::ECS::Service').length;
  const { cluster, service: perService, family } = IDLE.insights;
  return [use('Container Insights', 'customMetric', cluster + services * (perService + family))];
}

function service(properties: Properties, resources: Resources): Usage[] {
  const { DesiredCount, TaskDefinition, CapacityProviderStrategy, NetworkConfiguration } = properties;
  const { vcpu, memoryGb } = taskSize(TaskDefinition, resources);
  const isSpot = CapacityProviderStrategy?.[0]?.CapacityProvider === 'FARGATE_SPOT';
  const isPublic = NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp === 'ENABLED';
  const hours = DesiredCount * HOURS;
  const item = `Data collection${isSpot ? ' on Spot' : ''}`;
  return [
    use(item, isSpot ? 'spotVcpu' : 'fargateVcpu', hours * vcpu),
    use(item, isSpot ? 'spotMemory' : 'fargateMemory', hours * memoryGb),
    ...(isPublic ? [use('Public address of data collection', 'publicAddress', hours)] : []),
    use('Logs of idle services', 'logIngestion', DesiredCount * IDLE.serviceLogGb),
  ];
}

/** Size of a Fargate task, by a reference to its definition. */
export function taskSize(definition: unknown, resources: Resources): { vcpu: number; memoryGb: number } {
  const { Cpu, Memory, RuntimePlatform } = referenced(definition, 'AWS::ECS::TaskDefinition', resources);
  if (RuntimePlatform?.CpuArchitecture !== 'ARM64') throw new Error('A task on x86 has no price');
  return { vcpu: Number(Cpu) / 1024, memoryGb: Number(Memory) / 1024 };
}

/** Memory of a function, GB, by a reference to its alias or to itself. */
export function functionMemoryGb(reference: unknown, resources: Resources): number {
  const alias = resources.get(logicalId(reference));
  const target = alias?.Type === 'AWS::Lambda::Alias' ? alias.Properties!.FunctionName : reference;
  return referenced(target, 'AWS::Lambda::Function', resources).MemorySize / 1024;
}

/** A schedule's runs of a function, directly or through a queue. */
function scheduled(runs: number, target: unknown, resources: Resources): Usage[] {
  const item = 'Scheduled functions';
  if (resources.get(logicalId(target))?.Type === 'AWS::SQS::Queue') {
    const reader = readerOf(logicalId(target), resources);
    return [use(item, 'queueRequest', runs * IDLE.queueRequests), ...scheduled(runs, reader, resources)];
  }
  const seconds = runs * IDLE.scheduledSeconds;
  return [
    use(item, 'lambdaRequest', runs),
    use(item, 'lambdaDuration', seconds * functionMemoryGb(target, resources)),
    use(item, 'tableRead', runs * IDLE.scheduledReads),
    use(item, 'logIngestion', runs * IDLE.scheduledLogGb),
    use(item, 'trace', runs),
  ];
}

/** Function that reads a queue. */
function readerOf(queue: string, resources: Resources): unknown {
  for (const { Type, Properties = {} } of resources.values()) {
    if (Type !== 'AWS::Lambda::EventSourceMapping') continue;
    if (logicalId(Properties.EventSourceArn) === queue) return Properties.FunctionName;
  }
  throw new Error(`No function reads the queue ${queue}`);
}

const MINUTES: Readonly<Record<string, number>> = { minute: 1, hour: 60, day: 1440 };

/** Runs of a schedule; throws for an expression other than `rate(...)` and every few minutes by `cron(0/N * * * ? *)`. */
export function runsPerMonth(expression: string): number {
  const [, step] = /^cron\(0\/(\d+) \* \* \* \? \*\)$/.exec(expression) ?? [];
  if (step !== undefined) return HOURS * Math.ceil(60 / Number(step));
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  if (unit === undefined) throw new Error(`Schedule "${expression}" has no price: use rate(...)`);
  return (HOURS * 60) / (Number(count) * MINUTES[unit]!);
}

/** Logical ID of the first `Ref` or `Fn::GetAtt` in a value, also within other functions such as `Fn::Join`. Empty without one. */
function logicalId(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  const { Ref, 'Fn::GetAtt': attribute } = value as { Ref?: string; 'Fn::GetAtt'?: readonly string[] };
  const own = Ref ?? attribute?.[0];
  return own ?? Object.values(value).map(logicalId).find(Boolean) ?? '';
}

function referenced(reference: unknown, type: string, resources: Resources): Properties {
  const found = resources.get(logicalId(reference));
  if (found?.Type !== type) throw new Error(`${JSON.stringify(reference)} is not a reference to ${type}`);
  return found.Properties ?? {};
}
