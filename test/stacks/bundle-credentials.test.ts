import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BUNDLE_OPTIONS } from '../../bin/build/build.ts';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-credentials-'));
const bundle = join(folder, 'credentials.mjs');

beforeAll(async () => {
  await build({
    ...BUNDLE_OPTIONS,
    stdin: {
      contents: `
        import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
        const client = new DynamoDBClient({ region: 'eu-west-1' });
        console.log(JSON.stringify(await client.config.credentials().catch(({ message }) => ({ message }))));`,
      resolveDir: process.cwd(),
    },
    outfile: bundle,
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function credentials(env: Record<string, string>) {
  const { stdout } = await promisify(execFile)(process.execPath, [bundle], { env });
  return JSON.parse(stdout);
}

test('bundle reads the credentials of its function from the environment', async () => {
  const env = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'session' };
  expect(await credentials(env)).toMatchObject({
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    sessionToken: 'session',
  });
});

test("bundle reads the credentials of its task from the container's endpoint", async () => {
  const expiration = new Date(Date.now() + 3_600_000).toISOString();
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        AccessKeyId: 'id',
        SecretAccessKey: 'secret',
        Token: 'session',
        Expiration: expiration,
      }),
    ),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/credentials` };
    expect(await credentials(env)).toMatchObject({ accessKeyId: 'id', sessionToken: 'session', expiration });
  } finally {
    server.close();
  }
});

test('bundle without credentials reports that they are missing', async () => {
  expect((await credentials({})).message).toContain('credential');
});
