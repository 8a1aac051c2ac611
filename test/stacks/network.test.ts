import { describe, expect, test } from 'vitest';
import { ofType, type Synthesized, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const dev = templatesOf('dev');
const prod = templatesOf('prod');

const services = (stage: Synthesized, type: 'Gateway' | 'Interface') =>
  ofType(stage, 'AWS::EC2::VPCEndpoint')
    .map(([, each]) => each.Properties)
    .filter(({ VpcEndpointType }) => VpcEndpointType === type)
    .map(
      ({ ServiceName }) => JSON.stringify(ServiceName).match(/\.(s3|dynamodb|ecr\.api|ecr\.dkr|logs)\b/)![1],
    );

const subnetsOf = (stage: Synthesized, kind: string) =>
  ofType(stage, 'AWS::EC2::Subnet')
    .filter(([id]) => id.includes(kind))
    .map(([id]) => id);

function flowSubstitutions(stage: Synthesized, flow = 'BacktestFlow') {
  const machines = ofType(stage, 'AWS::StepFunctions::StateMachine');
  const [, machine] = machines.find(([id]) => id.startsWith(flow))!;
  return machine.Properties.DefinitionSubstitutions;
}

const ZONES = new Set(['{"Fn::Select":[0,{"Fn::GetAZs":""}]}', '{"Fn::Select":[1,{"Fn::GetAZs":""}]}']);
const zonesOf = (stage: Synthesized) =>
  new Set(
    ofType(stage, 'AWS::EC2::Subnet').map(([, each]) => JSON.stringify(each.Properties.AvailabilityZone)),
  );

describe.each([dev, prod])('network of $config.stage', (stage) => {
  test('network has no NAT gateway', () => {
    expect(ofType(stage, 'AWS::EC2::NatGateway')).toEqual([]);
    expect(ofType(stage, 'AWS::EC2::EIP')).toEqual([]);
  });

  test('network has gateway endpoints for storage', () => {
    expect(services(stage, 'Gateway').sort()).toEqual(['dynamodb', 's3']);
  });

  test('network allows no inbound traffic from outside', () => {
    const inline = ofType(stage, 'AWS::EC2::SecurityGroup').flatMap(
      ([, each]) => each.Properties.SecurityGroupIngress ?? [],
    );
    const separate = ofType(stage, 'AWS::EC2::SecurityGroupIngress').map(([, each]) => each.Properties);
    const sources = [...inline, ...separate].map(
      (rule) => rule.CidrIp ?? rule.CidrIpv6 ?? 'a security group',
    );
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.filter((source) => !['a security group', '10.0.0.0/16'].includes(source))).toEqual([]);
  });

  test('network spans two zones without an account look-up', () => {
    expect(zonesOf(stage)).toEqual(ZONES);
  });

  test('collectors run in public subnets', () => {
    const flow = flowSubstitutions(stage);
    expect([flow.PublicSubnetA.Ref, flow.PublicSubnetB.Ref]).toEqual(subnetsOf(stage, 'Public'));
  });
});

describe('subnets of backtests', () => {
  test('backtests of development have a public IP address', () => {
    const flow = flowSubstitutions(dev);
    expect([flow.BacktestSubnetA.Ref, flow.BacktestSubnetB.Ref]).toEqual(subnetsOf(dev, 'Public'));
    expect(flow.BacktestPublicIp).toBe('ENABLED');
    expect(services(dev, 'Interface')).toEqual([]);
  });

  test('backtests of production run in isolated subnets with the endpoints that a task needs', () => {
    const flow = flowSubstitutions(prod);
    expect([flow.BacktestSubnetA.Ref, flow.BacktestSubnetB.Ref]).toEqual(subnetsOf(prod, 'Isolated'));
    expect(flow.BacktestPublicIp).toBe('DISABLED');
    expect(services(prod, 'Interface').sort()).toEqual(['ecr.api', 'ecr.dkr', 'logs']);
  });
});

test.each([dev, prod])('hyperopt workers of $config.stage run in the subnets of backtests', (stage) => {
  const [backtests, hyperoptJobs] = [flowSubstitutions(stage), flowSubstitutions(stage, 'HyperoptFlow')];
  for (const place of ['SubnetA', 'SubnetB', 'PublicIp']) {
    expect(hyperoptJobs[`Worker${place}`], place).toEqual(backtests[`Backtest${place}`]);
  }
});

test('explicit account and region need no look-up', () => {
  const env = { account: '111122223333', region: 'eu-central-1' };
  expect(zonesOf(synthesize('dev', { env }))).toEqual(ZONES);
});
