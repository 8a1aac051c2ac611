import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiClient } from '../../bin/cli/client.ts';

/** Rejects each request as the platform does, with the context of the query. */
let server: Server;
let client: ApiClient;
beforeAll(async () => {
  server = createServer(({ url }, response) => {
    const context = Object.fromEntries(new URL(url!, 'http://localhost').searchParams);
    const message = 'Invalid symbol format: BASE/QUOTE:SETTLE';
    response.writeHead(400).end(JSON.stringify({ detail: { code: 'VAL002', message, context } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = new ApiClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterAll(() => server.close());

const [FUTURES, SPOT] = ['BASE/QUOTE:SETTLE', 'BASE/QUOTE'];

it.each([
  'https://ann:secret@example.com',
  'ann:secret@example.com',
  'https:ann:secret@',
  'https://a b:secret@x',
])('address with a password is rejected without printing it: %s', (url) => {
  let message = '';
  try {
    new ApiClient(url);
  } catch (error) {
    ({ message } = error as Error);
  }
  expect(message).toMatch(/^The address of the service has a user or a password/);
  expect(message).not.toContain('secret');
});

it.each([
  ['BTC/USDT', FUTURES, '. A spot pair needs --trading-mode spot'],
  ['BTC/USDT:USDT', SPOT, '. With --trading-mode spot the format is BASE/QUOTE'],
  ['BTCUSDT', FUTURES, ''],
  ['BTCUSDT', SPOT, ''],
])('rejection of symbol %s in the format %s says how to pass it: "%s"', async (value, format, hint) => {
  await expect(client.get(`/?${new URLSearchParams({ value, format })}`)).rejects.toHaveProperty(
    'message',
    `VAL002: Invalid symbol format: BASE/QUOTE:SETTLE${hint}`,
  );
});
