import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { pinnedImage } from '../../bin/operate/base-image.ts';

/** Registry with the token protocol of the OCI distribution specification, and one image for two platforms. */
const digestOf = (body: string) => `sha256:${createHash('sha256').update(body).digest('hex')}`;
const arm = JSON.stringify({ schemaVersion: 2, config: {}, layers: ['arm64'] });
const platforms = (digest: string) =>
  JSON.stringify({
    schemaVersion: 2,
    manifests: [
      { digest: digestOf('amd64'), platform: { os: 'linux', architecture: 'amd64' } },
      { digest, platform: { os: 'linux', architecture: 'arm64', variant: 'v8' } },
    ],
  });

let index: string;
let stated: string | undefined;
const stored = new Map<string, string>();
let host: string;
const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  const url = new URL(request.url!, `http://${host}`);
  if (url.pathname === '/token') {
    response.end(JSON.stringify({ token: `for-${url.searchParams.get('scope')}` }));
    return;
  }
  const scope = 'repository:library/node:pull';
  if (request.headers.authorization !== `Bearer for-${scope}`) {
    const challenge = `Bearer realm="http://${host}/token",service="registry",scope="${scope}"`;
    response.writeHead(401, { 'WWW-Authenticate': challenge }).end();
    return;
  }
  const reference = url.pathname.replace('/v2/library/node/manifests/', '');
  const body = reference === '24-slim' ? index : stored.get(reference);
  if (body === undefined) response.writeHead(404).end('MANIFEST_UNKNOWN');
  else response.writeHead(200, { 'Docker-Content-Digest': stated ?? digestOf(body) }).end(body);
});
const folder = mkdtempSync(join(tmpdir(), 'touchstone-base-image-'));
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  index = platforms(digestOf(arm));
  stated = undefined;
  stored.clear();
  stored.set(digestOf(arm), arm);
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const image = () => `${host}/library/node:24-slim`;

it('base-image writes the digest for linux/arm64 into the settings of all stages', async () => {
  const file = join(folder, 'settings.json');
  writeFileSync(file, JSON.stringify({ $schema: './s.json', stages: { prod: { alarms: true } } }));
  const args = ['bin/operate/base-image.ts', '--image', image(), '--settings', file];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const printed = await text(child.stdout);
  const baseImage = `${image()}@${digestOf(arm)}`;
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    $schema: './s.json',
    stages: { prod: { alarms: true, baseImage }, dev: { baseImage }, test: { baseImage } },
  });
  expect(printed).toContain(`prod: not pinned -> ${baseImage}`);
});

it('base-image names a settings file that is not JSON, and keeps it', async () => {
  const file = join(folder, 'broken.json');
  writeFileSync(file, '{"stages":');
  const args = ['bin/operate/base-image.ts', '--image', image(), '--settings', file];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'pipe'] });
  expect(await text(child.stderr)).toContain(`${file} cannot be read: `);
  expect(readFileSync(file, 'utf8')).toBe('{"stages":');
});

it('base-image names a registry that does not respond', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const name = `127.0.0.1:${(closed.address() as AddressInfo).port}`;
  await new Promise((done) => closed.close(done));
  await expect(pinnedImage(`${name}/library/node:24-slim`)).rejects.toThrow(`${name} did not respond: `);
});

it('base-image rejects an index that does not match its digest', async () => {
  stated = digestOf('another index');
  await expect(pinnedImage(image())).rejects.toThrow(/but states sha256:/);
});

it('base-image rejects a manifest that does not match its digest', async () => {
  stored.set(digestOf(arm), `${arm} `);
  await expect(pinnedImage(image())).rejects.toThrow(/but states sha256:/);
});

it('base-image rejects an image that the registry does not have', async () => {
  stored.clear();
  await expect(pinnedImage(image())).rejects.toThrow(/returned status 404/);
});

it('base-image rejects an image without linux/arm64', async () => {
  index = JSON.stringify({ schemaVersion: 2, config: {} });
  await expect(pinnedImage(image())).rejects.toThrow(/no image for linux\/arm64/);
});

it('base-image rejects a name without a registry or a tag', async () => {
  for (const name of ['node:24-slim', `${host}/library/node`, '']) {
    await expect(pinnedImage(name)).rejects.toThrow(/Pass a registry, a name and a tag/);
  }
});
