import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';

const TASK = 'arn:aws:ecs:eu-west-1:111122223333:task/cluster/abc';
const IMAGE = `registry.example/sample@sha256:${'ab'.repeat(32)}`;

/** Parts of the ECS task metadata that a task reads. */
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

it('task in a container has its ARN and image', async () => {
  const { status, output } = await run({ ECS_CONTAINER_METADATA_URI_V4: `${url}/one` });
  expect([status, JSON.parse(output)]).toEqual([0, { id: TASK, image: IMAGE }]);
});

it('local task has the name from the process runner and no image', async () => {
  const { output } = await run({ TASK_ID: 'task-7' });
  expect(JSON.parse(output)).toEqual({ id: 'task-7', image: null });
});

it('task fails for a retry when the metadata endpoint has no ARN', async () => {
  expect((await run({ ECS_CONTAINER_METADATA_URI_V4: `${url}/two` })).status).toBe(1);
});

it('task logs the missing variables in one line', async () => {
  const { status, errors } = await run({ CORRELATION_ID: '' });
  expect(errors.trimEnd()).not.toContain('\n');
  const { level, service, error } = JSON.parse(errors);
  expect([status, level, service]).toEqual([1, 'ERROR', 'test']);
  expect(error.message).toBe('The environment does not fit: CORRELATION_ID is missing');
});
