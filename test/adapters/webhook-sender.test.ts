import { createSocket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { isPublicAddress } from '#adapters/webhooks/addresses.ts';
import { HttpsSender } from '#adapters/webhooks/https-sender.ts';
import { hostResolver, type ResolveHost } from '#adapters/webhooks/resolve-host.ts';
import { webhookSignatures } from '#adapters/webhooks/signatures.ts';
import { startReceiver } from '../support/receiver.ts';

describe('isPublicAddress', () => {
  it.each([
    // RFC 1918, loopback, link-local with metadata services, carrier-grade NAT.
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '169.254.170.2',
    '100.64.0.1',
    '100.127.255.255',
    '0.0.0.0',
    '255.255.255.255',
    // Documentation, benchmarks, multicast, reserved.
    '192.0.0.192',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    // Loopback, unspecified, ULA with the metadata service, link-local, site-local, multicast.
    '::1',
    '::',
    'fd00:ec2::254',
    'fc00::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    // IPv4 within IPv6: mapped, compatible, translated, 6to4, Teredo.
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    '3fff::1',
    '100::1',
    '',
    'localhost',
    '8.8.8',
    '8.8.8.8.8',
    '1.1.1.1/32',
  ])('is false for %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00::1',
  ])('is true for %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('HttpsSender', () => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  beforeAll(async () => {
    receiver = await startReceiver(({ path }) => Number(path.slice(1)));
  });
  afterAll(() => receiver?.close());

  const message = { headers: { 'webhook-id': 'msg_1' }, body: '{}' };
  /** Resolver whose n-th call returns the n-th addresses. */
  const resolving = (...calls: readonly string[][]): ResolveHost => {
    let call = 0;
    return async () =>
      calls[call++]!.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }));
  };

  it.each([
    ['one that is private', [['10.0.0.1']]],
    ['one of several that is private', [['93.184.215.14', '169.254.169.254']]],
    ['an IPv4-mapped one', [['::ffff:127.0.0.1']]],
    ['none', [[]]],
  ])('sends nothing to a name with %s', async (_, calls) => {
    const sender = new HttpsSender({ userAgent: 'test', resolve: resolving(...calls) });
    const { status, error } = await sender.send({ ...message, url: 'https://hooks.example.com/' });
    expect([status, error]).toEqual([null, 'The host name leads to an address that is not public']);
  });

  it('connects to the address that it has checked, and checks again for the next attempt', async () => {
    // A name that changes after the check. Only the first address has a server, so a second look-up would fail.
    const resolve = resolving(['127.0.0.1'], ['10.0.0.1']);
    const sender = new HttpsSender({ userAgent: 'test', allowLoopback: true, resolve });
    const url = `${receiver.url.replace('127.0.0.1', 'localhost')}/200`;
    expect(await sender.send({ ...message, url })).toMatchObject({ status: 200, error: null });
    expect(await sender.send({ ...message, url })).toMatchObject({
      status: null,
      error: 'The host name leads to an address that is not public',
    });
  });

  it('reaches a receiver while the names of fifteen others get no answer', async () => {
    const silent = createSocket('udp4');
    await once(silent.bind(0, '127.0.0.1'), 'listening');
    const asked = new Set<string>();
    silent.on('message', (question) => asked.add(question.toString('latin1', 13, 15)));
    const resolve = hostResolver([`127.0.0.1:${silent.address().port}`]);
    const sender = new HttpsSender({ userAgent: 'test', allowLoopback: true, resolve });
    let ended = 0;
    const names = Array.from({ length: 15 }, (_, index) => `${String.fromCharCode(97 + index)}0.example.com`);
    const hanging = names.map(async (name) => {
      const { error } = await sender.send({ ...message, url: `https://${name}/` });
      ended++;
      return error;
    });
    await expect.poll(() => asked.size).toBe(15);
    const url = `${receiver.url.replace('127.0.0.1', 'localhost')}/200`;
    expect(await sender.send({ ...message, url })).toMatchObject({ status: 200 });
    expect(ended).toBe(0);
    silent.close();
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['The host name could not be resolved']));
  });

  it('rejects an address of this machine, and http, without the setting', async () => {
    const sender = new HttpsSender({ userAgent: 'test' });
    const { error } = await sender.send({ ...message, url: `${receiver.url}/200` });
    expect(error).toBe('The URL must begin with https://');
  });

  it.each([
    [200, null],
    [302, 'HTTP 302: redirects are not followed'],
    [500, 'HTTP 500'],
  ])('returns status %i of a receiver', async (status, error) => {
    const sender = new HttpsSender({ userAgent: 'touchstone/1', allowLoopback: true });
    expect(await sender.send({ ...message, url: `${receiver.url}/${status}` })).toMatchObject({
      status,
      error,
    });
    expect(receiver.requests.at(-1)).toMatchObject({
      headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1', 'user-agent': 'touchstone/1' },
      body: '{}',
    });
  });

  it.each([
    ['switches protocols', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ['is not HTTP', 'SSH-2.0-OpenSSH_9.9\r\n\r\n'],
  ])('attempt at a receiver that %s ends without a status', async (_, reply) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(reply));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const sender = new HttpsSender({ userAgent: 'test', allowLoopback: true });
    const { status, error } = await sender.send({ ...message, url });
    server.close();
    expect([status, error]).toEqual([null, expect.stringMatching(/without a response|Request failed: HPE_/)]);
  });

  it.each([
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://[::ffff:10.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://[2002:a00:1::]/',
    'https://[fe80::1%25eth0]/',
    'https://user@a.example/',
    'https://localhost./',
    'https://a.example:25/',
    'https://a.example/\r\nx: y',
    'https://a.example/\u001b[2J',
    'https://a.example/\u009b2J',
  ])('does not accept the URL %j', async (url) => {
    expect(await new HttpsSender({ userAgent: 'test' }).urlProblem(url)).toMatch(/^(must|is not)/);
  });

  it('ends an attempt at the time limit, and does not name the address of a refused connection', async () => {
    const silent = await startReceiver(() => new Promise(() => undefined));
    const slow = new HttpsSender({ userAgent: 'test', allowLoopback: true, timeoutMs: 50 });
    expect(await slow.send({ ...message, url: silent.url })).toMatchObject({
      status: null,
      error: 'No response within the time limit',
    });
    await silent.close();
    expect((await slow.send({ ...message, url: silent.url })).error).toBe('Connection refused');
  });
});

describe('webhookSignatures', () => {
  test('signature equals the vector of the Standard Webhooks specification', () => {
    const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
    const signed = webhookSignatures.sign(
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      id,
      1_614_265_330,
      '{"test": 2432232314}',
    );
    expect(signed).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });
});
