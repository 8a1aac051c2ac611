import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiClient } from '../../bin/cli/client.ts';
import { escapeControlChars } from '../../bin/cli/output.ts';

/** Names, comments and errors of other users must not control the terminal that prints them. */

const EVIL = '\x1b]0;title\x07\x1b[2J\u009b31m\r\nVersion 7 was promoted\u202e';
const seen: string[] = [];
let status = 200;
const server = createServer((request, response) => {
  seen.push(`${request.url} ${request.headers.authorization}`);
  if (status === 302) response.writeHead(302, { location: '/elsewhere' });
  else response.writeHead(status);
  const detail =
    status === 400
      ? [{ loc: ['body', EVIL], msg: EVIL }]
      : { code: EVIL, message: EVIL, context: { [EVIL]: EVIL } };
  response.end(JSON.stringify(status === 200 ? { items: [{ name: EVIL, nested: [EVIL] }] } : { detail }));
});
let client: ApiClient;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = new ApiClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'my-token');
});
afterAll(() => server.close());

const CONTROL = /[\p{Cc}\p{Cf}]/u;

it('client escapes control characters in responses', async () => {
  status = 200;
  const { items } = await client.get<{ items: { name: string; nested: string[] }[] }>('/');
  expect(items[0]!.name).toBe(escapeControlChars(EVIL));
  expect(items[0]!.nested[0]).not.toMatch(CONTROL);
  expect(items[0]!.name).toContain('Version 7 was promoted');
});

it.each([400, 409])('client escapes control characters in errors with status %i', async (rejected) => {
  status = rejected;
  const error = await client.get('/').catch((thrown: unknown) => thrown as Error);
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message).toContain('Version 7 was promoted');
  expect((error as Error).message).not.toMatch(CONTROL);
});

it('client does not follow a redirect with the token', async () => {
  status = 302;
  seen.length = 0;
  await expect(client.get('/first')).rejects.toThrow();
  expect(seen).toEqual(['/first Bearer my-token']);
});

it('text of any language without control characters is unchanged', () => {
  for (const text of ['BTC/USDT:USDT', 'Größe 10 €', '戦略', '😀'])
    expect(escapeControlChars(text)).toBe(text);
});
