import { expect, test } from 'vitest';
import { stageConfig } from '#lib/settings/config.ts';
import { ofType, type Resource, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

/** What bin/operate/rotate-secret.ts relies on. */
const prod = templatesOf('prod');
const template = prod.platform.toJSON();
const secretOf = (output: string): string => template.Outputs[output].Value.Ref;
const [first, second] = ['ServiceTokenArn1', 'ServiceTokenArn2'].map(secretOf);

const [proxyId, proxy] = ofType(prod, 'AWS::Lambda::Function').find(
  ([, { Properties }]) => Properties.Environment.Variables.SERVICE_TOKEN,
) as [string, Resource];

test('stack parameter selects the token that the data proxy sends', () => {
  expect(template.Parameters.ServiceTokenSlot).toMatchObject({ AllowedValues: ['1', '2'], Default: '1' });
  const { 'Fn::If': sent } = proxy.Properties.Environment.Variables.SERVICE_TOKEN;
  expect(template.Conditions[sent[0]]).toEqual({ 'Fn::Equals': [{ Ref: 'ServiceTokenSlot' }, '2'] });
  const reference = (secret: string | undefined) => ({
    'Fn::Join': ['', ['{{resolve:secretsmanager:', { Ref: secret }, ':SecretString:::}}']],
  });
  expect(sent.slice(1)).toEqual([reference(second), reference(first)]);
});

test('changed parameter publishes a version of the data proxy, which replaces its predecessor', () => {
  const versions = ofType(prod, 'AWS::Lambda::Version').filter(
    ([, { Properties }]) => Properties.FunctionName.Ref === proxyId,
  );
  expect(versions).toHaveLength(1);
  // The description of a version is a property whose change replaces it.
  expect(versions[0]![1].Properties.Description).toEqual({
    'Fn::Join': ['', ['Sends service token ', { Ref: 'ServiceTokenSlot' }]],
  });
});

test('data collection reads both tokens when a task starts', () => {
  const [definition] = ofType(prod, 'AWS::ECS::TaskDefinition')
    .map(([, { Properties }]) => Properties.ContainerDefinitions[0])
    .filter(({ Secrets }) => Secrets);
  expect(definition.Secrets).toEqual([
    { Name: 'SERVICE_TOKEN', ValueFrom: { Ref: first } },
    { Name: 'SERVICE_TOKEN_2', ValueFrom: { Ref: second } },
    { Name: 'ORIGIN_TOKEN', ValueFrom: { Ref: secretOf('OriginTokenArn1') } },
    { Name: 'ORIGIN_TOKEN_2', ValueFrom: { Ref: secretOf('OriginTokenArn2') } },
  ]);
  const service = prod.resources.get(template.Outputs.DataCollectionService.Value['Fn::GetAtt'][0])!;
  expect(service.Type).toBe('AWS::ECS::Service');
  // An earlier task responds until the new one does.
  expect(service.Properties.DeploymentConfiguration).toMatchObject({
    MinimumHealthyPercent: 100,
    MaximumPercent: 200,
  });
  expect(service.Properties.Cluster).toEqual(template.Outputs.DataCollectionCluster.Value);
});

test('stage without data collection and dashboard has no token to rotate', () => {
  const web = { ...stageConfig('dev').web, enabled: false };
  const elsewhere = synthesize('dev', { dataCollectionUrl: 'https://data.example.org', web });
  expect(elsewhere.platform.toJSON().Parameters).not.toHaveProperty('ServiceTokenSlot');
  expect(ofType(elsewhere, 'AWS::SecretsManager::Secret')).toEqual([]);
});
