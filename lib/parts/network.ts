import { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { StageConfig } from '../settings/config.ts';
import { logGroup } from './construct-helpers.ts';
import type { ServiceFunctionProps } from './service-function.ts';

const ADDRESSES = '10.0.0.0/16';

/** Subnets of a task, as in a RunTask call. */
export interface TaskPlacement {
  readonly subnets: readonly ec2.ISubnet[];
  readonly assignPublicIp: boolean;
}

/**
 * Network without NAT in two zones. The exchanges are on the internet, so collectors have public addresses and security groups
 * without inbound rules. Functions and tasks that need no internet are isolated.
 */
export class Network extends Construct {
  readonly vpc: ec2.Vpc;
  /** Security group of every task: outbound only. */
  readonly taskSecurityGroup: ec2.SecurityGroup;
  /** Subnets of tasks that call exchanges. */
  readonly collectors: TaskPlacement;
  /** Subnets of tasks that only need storage: backtests and hyperopt workers. */
  readonly backtests: TaskPlacement;
  /** Placement of functions that run strategies; undefined where their tasks reach the internet too. */
  readonly isolatedFunctions: ServiceFunctionProps['network'];

  constructor(scope: Construct, id: string, props: { readonly config: StageConfig }) {
    super(scope, id);
    this.vpc = new ec2.Vpc(this, 'Vpc', {
      ipAddresses: ec2.IpAddresses.cidr(ADDRESSES),
      maxAzs: 2,
      natGateways: 0,
      subnetConfiguration: [
        { name: 'Public', subnetType: ec2.SubnetType.PUBLIC, mapPublicIpOnLaunch: false },
        { name: 'Isolated', subnetType: ec2.SubnetType.PRIVATE_ISOLATED },
      ],
    });
    this.#addStorage();
    // Logs only rejected connections: they reveal a wrong security group at a fraction of the volume.
    this.vpc.addFlowLog('Refused', {
      destination: ec2.FlowLogDestination.toCloudWatchLogs(logGroup(this, 'FlowLog', props.config)),
      trafficType: ec2.FlowLogTrafficType.REJECT,
    });
    this.taskSecurityGroup = new ec2.SecurityGroup(this, 'Tasks', {
      vpc: this.vpc,
      description: 'Tasks: no way in',
    });
    this.collectors = { subnets: this.vpc.publicSubnets, assignPublicIp: true };
    this.backtests =
      props.config.network === 'public'
        ? this.collectors
        : { subnets: this.vpc.isolatedSubnets, assignPublicIp: false };
    if (props.config.network === 'isolated') {
      const { vpc, taskSecurityGroup: securityGroup } = this;
      this.isolatedFunctions = { vpc, subnets: vpc.isolatedSubnets, securityGroup };
      this.#addEndpoints();
    }
  }

  /**
   * Endpoints of storage, free of charge. Without them, candles would leave the network through a public address. Their policies
   * keep code of others from sending data to another account: the endpoints are the only way out of an isolated subnet.
   */
  #addStorage(): void {
    const { account, region, partition } = Stack.of(this);
    const s3 = this.vpc.addGatewayEndpoint('S3', { service: ec2.GatewayVpcEndpointAwsService.S3 });
    s3.addToPolicy(anyCall({ 'aws:ResourceAccount': account }));
    // Layers of images, which ECR stores in a bucket of its own.
    s3.addToPolicy(
      new iam.PolicyStatement({
        principals: [new iam.AnyPrincipal()],
        actions: ['s3:GetObject'],
        resources: [`arn:${partition}:s3:::prod-${region}-starport-layer-bucket/*`],
      }),
    );
    const dynamo = this.vpc.addGatewayEndpoint('DynamoDb', {
      service: ec2.GatewayVpcEndpointAwsService.DYNAMODB,
    });
    dynamo.addToPolicy(anyCall({ 'aws:PrincipalAccount': account }));
  }

  /**
   * Endpoints that a task start needs in addition to storage: its image (the layers come from S3) and its log. Their names
   * resolve to these addresses in the whole network, so they accept connections from all of it.
   */
  #addEndpoints(): void {
    const services = {
      EcrApi: ec2.InterfaceVpcEndpointAwsService.ECR,
      EcrDocker: ec2.InterfaceVpcEndpointAwsService.ECR_DOCKER,
      Logs: ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS,
    };
    const securityGroup = new ec2.SecurityGroup(this, 'Endpoints', {
      vpc: this.vpc,
      description: 'Endpoints of AWS services: from the network itself',
      allowAllOutbound: false,
    });
    securityGroup.addIngressRule(ec2.Peer.ipv4(ADDRESSES), ec2.Port.HTTPS, 'Calls of the services');
    for (const [id, service] of Object.entries(services)) {
      const endpoint = this.vpc.addInterfaceEndpoint(id, {
        service,
        subnets: { subnetType: ec2.SubnetType.PRIVATE_ISOLATED },
        securityGroups: [securityGroup],
        open: false,
      });
      endpoint.addToPolicy(anyCall({ 'aws:PrincipalAccount': Stack.of(this).account }));
    }
  }
}

/** Statement of an endpoint policy: every call that meets the condition. The roles limit what is called. */
function anyCall(equal: Readonly<Record<string, string>>): iam.PolicyStatement {
  return new iam.PolicyStatement({
    principals: [new iam.AnyPrincipal()],
    actions: ['*'],
    resources: ['*'],
    conditions: { StringEquals: equal },
  });
}
