import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { readSignalsCsv } from '../../web/src/pages/new-backtest/signals-file.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { openSections } from './support/sections.ts';

const COLUMNS = {
  all: ['timestamp', 'pair', 'enter_long', 'exit_long', 'enter_tag'],
  flags: ['enter_long', 'exit_long'],
};
const CSV = `timestamp,pair,enter_long,exit_long,enter_tag
2026-01-06T11:00:00Z,BTC/USDT:USDT,,1,
2026-01-05T03:00:00Z,BTC/USDT:USDT,1,,"a ""break"",
out"
2026-01-08T00:00:00Z,ETH/USDT:USDT,1,,dip
`;

const fileOf = (text: string, name = 'cross.csv') => ({
  name,
  mimeType: 'text/csv',
  buffer: Buffer.from(text),
});

/**
 * The platform as a stage in AWS: the policy of its pages allows the bucket, and addresses of uploads are there. Not by routes of the
 * browser, which would skip the question for the CORS rule.
 */
async function stageBefore(platform: string, bucket: string) {
  const server = createServer(async (request, response) => {
    const { host: _, origin: __, ...headers } = request.headers as Record<string, string>;
    const body = request.method === 'POST' ? await buffer(request) : undefined;
    const found = await fetch(`${platform}${request.url}`, {
      method: request.method!,
      headers,
      ...(body && { body }),
    });
    response.statusCode = found.status;
    for (const [name, value] of found.headers) {
      if (!/^content-(length|encoding)$|^transfer-encoding$/.test(name)) response.setHeader(name, value);
    }
    const policy = found.headers.get('content-security-policy');
    if (policy) {
      const own = "connect-src 'self'";
      response.setHeader('content-security-policy', policy.replace(own, `${own} ${bucket}/signals/`));
    }
    if (request.url !== '/services/backend/api/v1/signals' || request.method !== 'POST') {
      if (found.body)
        Readable.fromWeb(found.body as never)
          .on('error', () => {})
          .pipe(response);
      else response.end();
      return;
    }
    const { upload_headers, ...created } = (await found.json()) as any;
    const checksum = Buffer.from(created.sha256, 'hex').toString('base64');
    response.end(
      JSON.stringify({
        ...created,
        upload_url: `${bucket}/signals/${created.signals_id}?X-Amz-Signature=0`,
        upload_headers: { ...upload_headers, 'x-amz-checksum-sha256': checksum },
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('a file of signals in the browser', () => {
  test('says its rows, pairs and first time', () => {
    const first = Date.parse('2026-01-05T03:00:00Z');
    expect(readSignalsCsv(CSV, COLUMNS)).toEqual({
      rows: 3,
      pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
      first,
    });
    for (const time of ['2026-01-05 03:00:00+00:00', '2026-01-05 04:00:00+0100', '2026-01-05T03:00'])
      expect(readSignalsCsv(`timestamp,pair,enter_long\n${time},A/B,1`, COLUMNS).first).toBe(first);
    for (const time of [first, first / 1_000])
      expect(readSignalsCsv(`\ufeffpair,timestamp,enter_long\r\nA/B,${time},1\r\n`, COLUMNS).first).toBe(
        first,
      );
  });

  test.each([
    ['timestamp,pair,enter_lnog', /unknown columns: “enter_lnog”\. It may have timestamp, pair, enter_long/],
    ['timestamp,pair,pair,enter_long', /two columns pair/],
    ['pair,enter_long', /no column timestamp/],
    ['timestamp,pair,enter_tag', /no signals: it needs at least one of enter_long, exit_long/],
    ['timestamp,pair,enter_long', /no rows/],
    ['', /no rows/],
  ])('is rejected with the columns %s', (header, message) => {
    expect(() => readSignalsCsv(header, COLUMNS)).toThrow(message);
  });
});

describe.skipIf(!hasChromium)('signals in the form of a backtest', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
  });
  afterAll(() => dashboard?.stop());

  const jobOf = async (page: Page) =>
    (await dashboard.platform.get(`/api/v1/backtests/${page.url().split('/').at(-1)}`)).body;
  const run = (page: Page) => page.getByRole('button', { name: 'Run the backtest' }).click();

  test('are uploaded and traded, and the file can be chosen for another run', async () => {
    const { page, problems, findings, close } = await dashboard.open('/backtests/new');
    await openSections(page);
    await page.getByRole('textbox', { name: 'Largest pairs by volume' }).fill('1');
    await page.getByRole('combobox', { name: 'Strategy' }).selectOption('signals');
    expect(await page.getByRole('heading', { name: 'Pairs chosen over time' }).count()).toBe(0);
    await page.getByLabel('New file').setInputFiles(fileOf(CSV));
    await page.getByText('cross.csv is uploaded: 184 bytes, 3 rows, 2 pairs.').waitFor();
    await page.getByLabel('Range, UTC days, end').fill('2026-01-12');
    await page.getByText('Columns of a file').click();
    expect(await findings()).toEqual([]);
    await run(page);
    await page.waitForURL(/\/backtests\/bt-/);
    await page.getByText('Max drawdown').first().waitFor();
    const { config, job_id } = await jobOf(page);
    expect(config).toMatchObject({
      strategy: 'signals',
      pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
      date_range: { start: '2026-01-05T03:00:00.000Z', end: '2026-01-12T00:00:00.000Z' },
      signals_digest: createHash('sha256').update(CSV).digest('hex'),
    });
    const { trades } = (await dashboard.platform.get(`/api/v1/backtests/${job_id}/report-data`)).body;
    // Each row acts at the open of the next candle; the last trade stays open to the end.
    expect(
      trades.items.map(({ pair, opened_at, exit_reason }: any) => [pair, opened_at, exit_reason]),
    ).toEqual([
      ['BTC/USDT:USDT', '2026-01-05T04:00:00.000Z', 'exit_signal'],
      ['ETH/USDT:USDT', '2026-01-08T01:00:00.000Z', 'force_exit'],
    ]);
    await page.getByText('not checked (signals were given)', { exact: true }).waitFor();
    await page.goto(`${dashboard.url}/backtests/new?strategy=signals`);
    await page.getByRole('combobox', { name: 'Uploaded file' }).selectOption(config.signals);
    await expect.poll(() => page.getByLabel('ID of the file').inputValue()).toBe(config.signals);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('with wrong columns are not sent; wrong rows fail the run, which names them', async () => {
    const { page, findings, close } = await dashboard.open('/backtests/new?strategy=signals');
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.url());
    });
    await page.getByLabel('New file').setInputFiles(fileOf('timestamp,pair,buy\n1,A/B,1\n'));
    await page.getByText('The file has unknown columns: “buy”.').waitFor();
    expect(await findings()).toEqual([]);
    expect(sent).toEqual([]);
    // The same name again: the browser reports no change unless the field was cleared.
    const wrong =
      'timestamp,pair,enter_long\n2026-01-05T03:00:00Z,BTC/USDT:USDT,1\n2026-01-05T03:30:00Z,BTC/USDT:USDT,1\n';
    await page.getByLabel('New file').setInputFiles(fileOf(wrong));
    await page.getByText(/is uploaded/).waitFor();
    expect(await page.getByText('unknown columns').count()).toBe(0);
    await page.getByLabel('Range, UTC days, end').fill('2026-01-12');
    await run(page);
    await page.waitForURL(/\/backtests\/bt-/);
    await page.getByText(/not the open time of a candle \(row 2, 2026-01-05T03:30:00.000Z\)/).waitFor();
    await close();
  });

  test('go to the bucket with the signed headers and without the token', async () => {
    let site = '';
    const got: { method: string; headers: Record<string, unknown>; body: string }[] = [];
    const bucket = createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      got.push({ method: request.method!, headers: request.headers, body });
      // The CORS rule of the bucket of results.
      response.setHeader('access-control-allow-origin', site);
      response.setHeader('access-control-allow-methods', 'PUT');
      response.setHeader('access-control-allow-headers', 'content-type, x-amz-checksum-sha256');
      const isExpired = got.length > 2;
      response.statusCode = isExpired && request.method === 'PUT' ? 403 : 200;
      response.end(
        isExpired ? '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>' : '',
      );
    });
    bucket.listen(0, '127.0.0.1');
    await once(bucket, 'listening');
    const origin = `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`;
    const front = await stageBefore(dashboard.url, origin);
    site = front.url;
    const { page, problems, close } = await dashboard.open(`${front.url}/backtests/new?strategy=signals`);
    await page.getByLabel('New file').setInputFiles(fileOf(CSV));
    await page.getByText(/is uploaded/).waitFor();
    expect(got.map(({ method }) => method)).toEqual(['OPTIONS', 'PUT']);
    const { headers, body } = got[1]!;
    expect(body).toBe(CSV);
    expect(headers).toMatchObject({
      'content-type': 'text/csv',
      'content-length': '184',
      'x-amz-checksum-sha256': createHash('sha256').update(CSV).digest('base64'),
    });
    expect(headers).not.toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('cookie');
    await page.getByLabel('New file').setInputFiles(fileOf(CSV.replace('dip', 'dap')));
    await page.getByText('The upload was rejected: Request has expired').waitFor();
    const policy = (await problems()).filter((each) => each.startsWith('policy'));
    expect(policy).toEqual([]);
    await close();
    await front.stop();
    bucket.closeAllConnections();
    bucket.close();
  });
});
