import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { StageConfig, stageConfig } from '#lib/settings/config.ts';
import { ofType, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const imageOf = (stage: ReturnType<typeof templatesOf>) =>
  ofType(stage, 'AWS::ECS::TaskDefinition').map(
    ([, { Properties }]) => Properties.ContainerDefinitions[0].Image,
  );
const DIGEST = `sha256:${'a'.repeat(64)}`;

test('another base image makes another image of the tasks', () => {
  const before = imageOf(templatesOf('dev'));
  const pinned = `${stageConfig('dev').baseImage}@${DIGEST}`;
  const after = imageOf(synthesize('dev', { baseImage: pinned }));
  expect(after).toHaveLength(before.length);
  for (const image of after) expect(before).not.toContainEqual(image);
});

test('Dockerfile builds from the setting, by default from its default', () => {
  const dockerfile = readFileSync(join(import.meta.dirname, '../../src/tasks/Dockerfile'), 'utf8');
  expect(dockerfile).toContain(`ARG BASE_IMAGE=${stageConfig('prod').baseImage}\nFROM \${BASE_IMAGE}\n`);
});

test.each([
  'node',
  'node:24-slim',
  `registry.example/node@${DIGEST.slice(0, -1)}`,
  'https://registry.example/node',
])('base image %s is rejected', (baseImage) => {
  expect(StageConfig.safeParse({ ...stageConfig('dev'), baseImage }).success).toBe(false);
});

test('severe findings in the image of the tasks notify the topic of tickets', () => {
  const prod = templatesOf('prod');
  const rules = ofType(prod, 'AWS::Events::Rule').filter(([, { Properties }]) =>
    Properties.EventPattern?.source?.includes('aws.ecr'),
  );
  expect(rules).toHaveLength(1);
  const [[, { Properties }]] = rules as [(typeof rules)[0]];
  const found = [{ numeric: ['>', 0] }];
  expect(Properties.EventPattern).toMatchObject({
    source: ['aws.ecr', 'aws.inspector2'],
    'detail-type': ['ECR Image Scan', 'Inspector2 Scan'],
    detail: { 'finding-severity-counts': { $or: [{ CRITICAL: found }, { HIGH: found }] } },
  });
  const topics = ofType(prod, 'AWS::SNS::Topic').map(([id]) => id);
  const tickets = topics.filter((id) => id.includes('Ticket')).map((Ref) => ({ Ref }));
  expect(tickets).toHaveLength(1);
  expect(Properties.Targets.map(({ Arn }: any) => Arn)).toEqual(tickets);
});
