import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SANDBOX_FLAGS } from '#contract/values/sandbox-flags.ts';
import { BUNDLE_OPTIONS, KEPT_PROCESS } from '../../bin/build/build.ts';
import { nodeModules } from '../../bin/build/bundle-plugins.ts';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-credentials-'));
const bundle = join(folder, 'credentials.mjs');

beforeAll(async () => {
  await build({
    ...BUNDLE_OPTIONS,
    // As tasks are bundled.
    plugins: [nodeModules, ...BUNDLE_OPTIONS.plugins],
    inject: [KEPT_PROCESS],
    stdin: {
      contents: `
        import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
        import { closeGlobals } from '#adapters/processes/strategy-globals.ts';
        // Without an effect in a process without the flags of a sandbox.
        closeGlobals();
        const client = new DynamoDBClient({ region: 'eu-west-1' });
        console.log(JSON.stringify(await client.config.credentials().catch(({ message }) => ({ message }))));`,
      resolveDir: process.cwd(),
    },
    outfile: bundle,
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function credentials(env: Record<string, string>, flags: readonly string[] = []) {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, bundle], { env });
  return JSON.parse(stdout);
}

test.each([
  ['a function', []],
  ['a task whose strategy has no environment', SANDBOX_FLAGS],
])('bundle reads the credentials of %s from the environment', async (_, flags) => {
  const env = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'session' };
  expect(await credentials(env, flags)).toMatchObject({
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
    for (const flags of [[], SANDBOX_FLAGS]) {
      expect(await credentials(env, flags)).toMatchObject({
        accessKeyId: 'id',
        sessionToken: 'session',
        expiration,
      });
    }
  } finally {
    server.close();
  }
});

test('bundle without credentials reports that they are missing', async () => {
  expect((await credentials({})).message).toContain('credential');
});
