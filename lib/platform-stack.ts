import { join } from 'node:path';
import { CfnOutput, Duration, Fn, Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { IMAGE_RUN_OBJECTS } from '#contract/backtests/image-run-keys.ts';
import type { BackendEnv } from '#contract/env/env.ts';
import type { EnvInput } from '#contract/env/env-fields.ts';
import { retentionVariables } from '#contract/env/retention.ts';
import { WEBHOOK_PARTITION } from '#contract/values/tables.ts';
import { TableEvents } from './events/table-events.ts';
import { Webhooks } from './events/webhooks.ts';
import { addBackendApi } from './http/backend-api.ts';
import { addDashboard, createOriginTokens } from './http/dashboard.ts';
import { DataCollection } from './http/data-collection.ts';
import { DataProxy } from './http/data-proxy.ts';
import { StrategyService } from './http/strategy-service.ts';
import { TrafficShift } from './http/traffic-shift.ts';
import { Dispatcher } from './jobs/dispatcher.ts';
import { FastLane } from './jobs/fast-lane.ts';
import { BacktestFlow, HyperoptFlow } from './jobs/flow.ts';
import { type RegisteredImages, registeredImages } from './jobs/registered-images.ts';
import { Repair } from './jobs/repair.ts';
import { allowedRegistries, allowRepositories } from './jobs/task-image.ts';
import { backtestTask, collectTask, hyperoptTask } from './jobs/tasks.ts';
import { AuditTrail } from './parts/audit-write-alarm.ts';
import { acknowledge, defined, stackProps } from './parts/construct-helpers.ts';
import { poolVariables } from './parts/identity.ts';
import { Monitoring } from './parts/monitoring.ts';
import { Network } from './parts/network.ts';
import {
  allowAudit,
  allowObjects,
  allowSeriesUses,
  allowTable,
  allowTasks,
  READ_REGISTRY,
  SIGNAL_FILES,
  SIGNALS_KEYS,
  TRANSITION_REGISTRY,
} from './parts/permissions.ts';
import { ServiceFunction } from './parts/service-function.ts';
import type { TokenPair } from './parts/service-tokens.ts';
import { environmentOf, type StageConfig } from './settings/config.ts';
import { namespaceOf } from './settings/stage-names.ts';
import { promotionVariables, slotVariables } from './settings/stage-variables.ts';
import type { DataStack } from './storage/data-stack.ts';
import { Canary } from './watch/canary.ts';
import { LogQueries } from './watch/log-queries.ts';
import { QuotaAlarms } from './watch/quota-alarms.ts';

interface PlatformStackProps {
  readonly config: StageConfig;
  readonly data: DataStack;
  /** Output folder of bin/build/build.ts. */
  readonly dist: string;
}

interface Flows {
  readonly backtest: BacktestFlow;
  readonly hyperopt: HyperoptFlow;
}

/** All compute. This stack holds no state: it can be deleted and deployed again. */
export class PlatformStack extends Stack {
  readonly #props: PlatformStackProps;
  readonly #common: Pick<EnvInput<typeof BackendEnv>, 'ENVIRONMENT' | 'LOG_LEVEL' | 'TOUCHSTONE_INSTANCE'>;
  readonly #image: ecs.ContainerImage;
  readonly #monitoring: Monitoring;
  readonly #audit: AuditTrail;
  readonly #originTokens: TokenPair | undefined;

  /** Long because it is the list of the stack's parts, in the order in which they need each other. */
  constructor(scope: Construct, id: string, props: PlatformStackProps) {
    const { config, data, dist } = props;
    super(scope, id, stackProps(config, 'API, workflow, tasks'));
    this.#props = props;
    this.#common = {
      ENVIRONMENT: environmentOf(config),
      LOG_LEVEL: config.logLevel,
      ...(config.instance && { TOUCHSTONE_INSTANCE: config.instance }),
    };
    this.#image = ecs.ContainerImage.fromAsset(join(dist, 'tasks'), {
      platform: Platform.LINUX_ARM64,
      buildArgs: { BASE_IMAGE: config.baseImage },
    });

    const monitoring = new Monitoring(this, 'Monitoring', { config });
    this.#monitoring = monitoring;
    this.#audit = new AuditTrail(this, 'AuditTrail', { monitoring });
    this.#originTokens = createOriginTokens(this, config);
    data.addThrottleAlarm(monitoring);
    if (config.alarms) new QuotaAlarms(this, 'QuotaAlarms', { monitoring });
    const network = new Network(this, 'Network', { config });
    const cluster = this.#cluster(network);
    const dataCollection = this.#dataCollection(network, cluster);
    const dataProxy = this.#dataProxy(network, dataCollection);
    const { flows, images } = this.#workflows(network, cluster, dataProxy);
    const jobServices = this.#jobServices(flows, cluster);
    const repair = new Repair(this, 'Repair', {
      ...jobServices,
      code: this.#code('repair'),
      results: data.results,
    });
    const delivery = this.#delivery();
    new Dispatcher(this, 'Dispatcher', { ...jobServices, code: this.#code('dispatcher') });
    const strategy = this.#strategyService(flows.hyperopt, cluster, repair);
    const backend = this.#backend(flows.backtest, dataProxy, {
      strategy,
      cluster,
      runs: images.forBackend,
      ...delivery,
    });
    const { api: backendApi, events } = addBackendApi(this, {
      config,
      monitoring,
      data,
      backend,
      after: strategy.api,
      originTokens: this.#originTokens,
      dataProxy: dataProxy.service.alias,
      code: this.#code('job-events'),
      environment: { ...this.#common, ...images.runs },
    });
    const dashboard =
      this.#originTokens &&
      addDashboard(this, {
        config,
        monitoring,
        network,
        dataCollection,
        backend,
        events,
        backendApi,
        strategy,
        common: this.#common,
        originTokens: this.#originTokens,
        signIn: data.identity.signIn,
        uploads: data.results,
        code: (name) => this.#code(name),
      });
    if (config.trafficShift) {
      const shift = new TrafficShift(this, 'TrafficShift', { shift: config.trafficShift, monitoring });
      // All that answer callers. Calls of the others are repeated, have another way or are few: docs/decisions/051.
      for (const each of [backend, events, strategy.service, strategy.events, dataProxy.service])
        shift.add(each);
      if (dashboard) shift.add(dashboard.dataApi);
    }
    if (config.canary) {
      const canary = { config, monitoring, code: this.#code('canary'), common: this.#common };
      new Canary(this, 'Canary', { ...canary, backend, url: backendApi.url, web: dashboard?.web });
    }
    monitoring.addDashboard();
    new LogQueries(this, 'LogQueries');
    new CfnOutput(this, 'BackendUrl', {
      value: backendApi.url,
      description: 'base_url of the backend service',
    });
    new CfnOutput(this, 'StrategyServiceUrl', {
      value: strategy.api.url,
      description: 'strategy_service_url',
    });
  }

  /** The region's first two zones by index: a look-up would need an account at synthesis. */
  override get availabilityZones(): string[] {
    return [Fn.select(0, Fn.getAzs()), Fn.select(1, Fn.getAzs())];
  }

  #cluster({ vpc }: Network): ecs.Cluster {
    const { containerInsights } = this.#props.config;
    const cluster = new ecs.Cluster(this, 'Cluster', {
      vpc,
      containerInsightsV2: containerInsights ? ecs.ContainerInsights.ENABLED : ecs.ContainerInsights.DISABLED,
      enableFargateCapacityProviders: true,
    });
    if (!containerInsights) {
      acknowledge(cluster, {
        'AwsSolutions-ECS4': 'Container Insights is a setting of the stage: on in production.',
      });
    }
    return cluster;
  }

  /** Workflows of jobs, with their tasks. */
  #workflows(network: Network, cluster: ecs.Cluster, dataProxy: DataProxy) {
    const { config, data, dist } = this.#props;
    const monitoring = this.#monitoring;
    const tasks = { config, data, image: this.#image, common: this.#common };
    const backtests = backtestTask(this, tasks);
    const images = registeredImages(this, {
      ...tasks,
      monitoring,
      cluster,
      code: (name: string) => this.#code(name),
    });
    const fastLane = new FastLane(this, 'FastLane', {
      config,
      monitoring,
      data,
      network,
      code: lambda.Code.fromAsset(join(dist, 'tasks')),
      common: this.#common,
    });
    const shared = {
      config,
      monitoring,
      cluster,
      network,
      dataProxy: dataProxy.service.alias,
      collectTask: collectTask(this, tasks),
      jobs: data.tables.jobs,
    };
    const flows: Flows = {
      backtest: new BacktestFlow(this, 'BacktestFlow', {
        ...shared,
        backtestTask: backtests,
        images,
        fastLane,
      }),
      hyperopt: new HyperoptFlow(this, 'HyperoptFlow', {
        ...shared,
        hyperoptTask: hyperoptTask(this, tasks),
      }),
    };
    return { flows, images };
  }

  /** What the functions that start and repair jobs have in common. */
  #jobServices(flows: Flows, cluster: ecs.Cluster) {
    const { config, data } = this.#props;
    return {
      config,
      monitoring: this.#monitoring,
      environment: {
        ...this.#common,
        ...slotVariables(config),
        JOBS_TABLE: data.tables.jobs.tableName,
        REGISTRY_TABLE: data.tables.registry.tableName,
        BACKTEST_STATE_MACHINE_ARN: flows.backtest.machine.stateMachineArn,
        HYPEROPT_STATE_MACHINE_ARN: flows.hyperopt.machine.stateMachineArn,
        // Repair promotes winners of challenges.
        ...promotionVariables(config),
      },
      flows,
      cluster,
      jobs: data.tables.jobs,
      registry: data.tables.registry,
    };
  }

  /** Events of the tables, and webhooks, which receive them. */
  #delivery() {
    const { config, data } = this.#props;
    const common = {
      config,
      monitoring: this.#monitoring,
      tables: data.tables,
      environment: this.#common,
    };
    const { bus, source } = new TableEvents(this, 'TableEvents', {
      ...common,
      code: this.#code('table-events'),
    });
    const webhooks = new Webhooks(this, 'Webhooks', { ...common, bus, code: this.#code('webhooks') });
    return { webhooks: webhooks.queue, eventSource: source };
  }

  #code(name: string): lambda.Code {
    return lambda.Code.fromAsset(join(this.#props.dist, 'lambdas', name));
  }

  /** Undefined where `dataCollectionUrl` names an existing service. */
  #dataCollection(network: Network, cluster: ecs.Cluster): DataCollection | undefined {
    const { config, data } = this.#props;
    if (config.dataCollectionUrl) return undefined;
    const dataCollection = new DataCollection(this, 'DataCollection', {
      config,
      monitoring: this.#monitoring,
      audit: this.#audit,
      originTokens: this.#originTokens,
      cluster,
      network,
      image: this.#image,
      environment: {
        ...this.#common,
        DEFAULT_EXCHANGE: config.defaultExchange,
        CANDLES_BUCKET: data.candles.bucketName,
        SERIES_TABLE: data.tables.series.tableName,
        JOBS_TABLE: data.tables.jobs.tableName,
        REGISTRY_TABLE: data.tables.registry.tableName,
        RETENTION_AUDIT_DAYS: retentionVariables(config.retention).RETENTION_AUDIT_DAYS,
        ...poolVariables('DATA_COLLECTION', data.identity.pool),
      },
    });
    const { role } = dataCollection.task;
    allowTable(role, 'series', data.tables.series, [
      'GetItem',
      'BatchGetItem',
      'Query',
      'PutItem',
      'UpdateItem',
    ]);
    allowAudit(role, data.tables.registry);
    allowSeriesUses(role, data.tables);
    // Deletes the files of series that users delete or rename, and what an import replaced.
    allowObjects(role, data.candles, ['GetObject', 'PutObject', 'DeleteObject']);
    return dataCollection;
  }

  #dataProxy(network: Network, dataCollection: DataCollection | undefined): DataProxy {
    const { config } = this.#props;
    const props = { config, monitoring: this.#monitoring, code: this.#code('data-proxy') };
    if (!dataCollection) {
      const environment = { ...this.#common, DATA_COLLECTION_URL: config.dataCollectionUrl };
      return new DataProxy(this, 'DataProxy', { ...props, environment });
    }
    const securityGroup = new ec2.SecurityGroup(this, 'DataProxySecurityGroup', {
      vpc: network.vpc,
      description: 'Data proxy: to data collection and nowhere else',
      allowAllOutbound: false,
    });
    dataCollection.allowFrom(securityGroup);
    return new DataProxy(this, 'DataProxy', {
      ...props,
      environment: {
        ...this.#common,
        SERVICE_DISCOVERY_NAMESPACE: namespaceOf(config),
        // To read the secret itself, the function would need an endpoint in its network, for 15 USD a month.
        SERVICE_TOKEN: dataCollection.tokens.sent,
      },
      revision: `Sends service token ${dataCollection.tokens.slot}`,
      network: { vpc: network.vpc, subnets: network.vpc.isolatedSubnets, securityGroup },
    });
  }

  #strategyService(
    flow: HyperoptFlow,
    cluster: ecs.Cluster,
    { schedules, service }: Repair,
  ): StrategyService {
    const { config, data } = this.#props;
    const eventsEnvironment = {
      ...this.#common,
      JOBS_TABLE: data.tables.jobs.tableName,
      ...poolVariables('STRATEGY', data.identity.pool),
      ...defined(retentionVariables(config.retention)),
    };
    return new StrategyService(this, 'Strategy', {
      config,
      monitoring: this.#monitoring,
      audit: this.#audit,
      originTokens: this.#originTokens,
      data,
      flow,
      cluster,
      schedules,
      code: this.#code('strategy'),
      environment: {
        ...eventsEnvironment,
        ...slotVariables(config),
        DEFAULT_EXCHANGE: config.defaultExchange,
        RESULTS_BUCKET: data.results.bucketName,
        CANDLES_BUCKET: data.candles.bucketName,
        SERIES_TABLE: data.tables.series.tableName,
        REGISTRY_TABLE: data.tables.registry.tableName,
        HYPEROPT_STATE_MACHINE_ARN: flow.machine.stateMachineArn,
        SCHEDULE_GROUP: schedules.groupName,
        SCHEDULE_FUNCTION_ARN: service.alias.functionArn,
        SCHEDULE_ROLE_ARN: schedules.role.roleArn,
        ALLOWED_REGISTRIES: allowedRegistries(config),
        // A challenge's winner is promoted by the same rules as any version.
        ...promotionVariables(config),
        CHALLENGE_MIN_TRADES: String(config.challengeMinTrades),
        CHALLENGE_MIN_HOURS: String(config.challengeMinHours),
        CHALLENGE_MIN_ASSIGNMENTS: String(config.challengeMinAssignments),
        CHALLENGE_REQUIRE_ASSIGNMENT: config.challengeRequireAssignment ? 'true' : 'false',
      },
      eventsCode: this.#code('strategy-events'),
      eventsEnvironment,
    });
  }

  /** Long because most of it is the list of the function's variables and rights. */
  #backend(
    flow: BacktestFlow,
    dataProxy: DataProxy,
    {
      strategy,
      cluster,
      runs,
      webhooks,
      eventSource,
    }: {
      readonly strategy: StrategyService;
      readonly cluster: ecs.Cluster;
      readonly webhooks: Queue;
      readonly eventSource: string;
      readonly runs: RegisteredImages['forBackend'];
    },
  ): ServiceFunction {
    const { config, data } = this.#props;
    const environment: EnvInput<typeof BackendEnv> = {
      ...this.#common,
      ...slotVariables(config),
      DEFAULT_EXCHANGE: config.defaultExchange,
      RESULTS_BUCKET: data.results.bucketName,
      CANDLES_BUCKET: data.candles.bucketName,
      JOBS_TABLE: data.tables.jobs.tableName,
      SERIES_TABLE: data.tables.series.tableName,
      REGISTRY_TABLE: data.tables.registry.tableName,
      BACKTEST_STATE_MACHINE_ARN: flow.machine.stateMachineArn,
      FAST_LANE_SECONDS: String(config.fastLaneSeconds),
      ALLOWED_REGISTRIES: allowedRegistries(config),
      ...runs,
      DATA_PROXY_FUNCTION: dataProxy.service.alias.functionArn,
      WEBHOOK_QUEUE_URL: webhooks.queueUrl,
      EVENT_SOURCE: eventSource,
      STRATEGY_SERVICE_URL: strategy.api.api.url,
      ...promotionVariables(config),
      REQUIRE_ROLLBACK_REASON: config.rollbackReasonRequired ? 'true' : 'false',
      ...poolVariables('BACKEND', data.identity.pool),
      ...defined(retentionVariables(config.retention)),
    };
    const backend = new ServiceFunction(this, 'Backend', {
      name: 'Backend',
      config,
      monitoring: this.#monitoring,
      description: `Touchstone ${config.stage}: the backend service`,
      code: this.#code('backend'),
      environment,
      // One second less than API Gateway's time-out.
      timeout: Duration.seconds(28),
    });
    const role = backend.function.role!;
    allowTable(role, 'jobs', data.tables.jobs, ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem']);
    // Webhooks and files of signals that users delete, and deliveries that are replayed.
    allowTable(role, 'jobs', data.tables.jobs, ['DeleteItem'], {
      keys: [WEBHOOK_PARTITION, ...SIGNALS_KEYS],
    });
    webhooks.grantSendMessages(role);
    allowTable(role, 'series', data.tables.series, ['BatchGetItem', 'Query']);
    allowTable(role, 'registry', data.tables.registry, [...READ_REGISTRY, ...TRANSITION_REGISTRY], {
      indexes: ['catalog-by-name', 'catalog-by-sharpe', 'catalog-by-drawdown', 'challenges'],
    });
    allowObjects(role, data.results, ['GetObject']);
    allowObjects(role, data.results, ['PutObject'], { keys: ['exports/*'], list: false });
    // An address for an upload has the permissions of the role that signs it.
    allowObjects(role, data.results, ['PutObject', 'DeleteObject'], { keys: [SIGNAL_FILES], list: false });
    allowObjects(role, data.runs, ['GetObject'], { keys: [`runs/*/${IMAGE_RUN_OBJECTS.progress}`] });
    allowRepositories(role, config, ['DescribeImages']);
    flow.grantControl(role);
    allowTasks(role, cluster, ['StopTask']);
    dataProxy.service.alias.grantInvoke(role);
    this.#audit.alarmOnFailures(backend, backend.function.logGroup);
    return backend;
  }
}
