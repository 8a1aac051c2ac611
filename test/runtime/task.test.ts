import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';

const TASK = 'arn:aws:ecs:eu-west-1:111122223333:task/cluster/abc';
const IMAGE = `registry.example/sample@sha256:${'ab'.repeat(32)}`;

/** What ECS tells a container of its task, in the parts that are read. */
const metadata = createServer((request, response) => {
  const known = request.url === '/v4/one/task';
  const Containers = [
    { Name: 'sidecar', Image: 'other' },
    { Name: 'task', Image: IMAGE, ImageID: 'sha256:0000' },
  ];
  response
    .writeHead(known ? 200 : 404)
    .end(known ? JSON.stringify({ TaskARN: TASK, Containers }) : 'nothing');
});
let url = '';
beforeAll(async () => {
  metadata.listen(0, '127.0.0.1');
  await once(metadata, 'listening');
  url = `http://127.0.0.1:${(metadata.address() as AddressInfo).port}/v4`;
});
afterAll(() => metadata.close());

async function run(env: Record<string, string>) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'fixtures/print-task.ts')], {
    env: { LOG_LEVEL: 'ERROR', CORRELATION_ID: 'c-1', ...env },
  });
  const [output, errors] = [text(child.stdout), text(child.stderr)];
  const [status] = await once(child, 'close');
  return { status, output: await output, errors: await errors };
}

it('is its ARN and its image in a container', async () => {
  const { status, output } = await run({ ECS_CONTAINER_METADATA_URI_V4: `${url}/one` });
  expect([status, JSON.parse(output)]).toEqual([0, { id: TASK, image: IMAGE }]);
});

it('is the name that the process runner gave it, without an image', async () => {
  const { output } = await run({ TASK_ID: 'task-7' });
  expect(JSON.parse(output)).toEqual({ id: 'task-7', image: null });
});

it('fails, so that it is tried again, when the container cannot say what it is', async () => {
  expect((await run({ ECS_CONTAINER_METADATA_URI_V4: `${url}/two` })).status).toBe(1);
});

it('says in one line of its log what its environment lacks', async () => {
  const { status, errors } = await run({ CORRELATION_ID: '' });
  expect(errors.trimEnd()).not.toContain('\n');
  const { level, service, error } = JSON.parse(errors);
  expect([status, level, service]).toEqual([1, 'ERROR', 'test']);
  expect(error.message).toBe('The environment does not fit: CORRELATION_ID is missing');
});
