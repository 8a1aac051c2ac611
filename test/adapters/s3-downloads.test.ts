import { createHash, createHmac } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { S3Client } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { S3Downloads } from '#adapters/aws/s3-downloads.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const NOW = Date.UTC(2026, 10, 23, 7);

/** Downloads of a client whose requests are kept and answered with success. */
function downloads() {
  const requests: { readonly method: string; readonly path: string; readonly body: Uint8Array }[] = [];
  const client = new S3Client({
    region: 'eu-central-1',
    credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: SECRET, sessionToken: 'to/ken+=' },
    requestHandler: {
      handle: async (request: any) => {
        requests.push(request);
        return { response: { statusCode: 200, headers: {}, body: new Uint8Array() } as any };
      },
    },
  });
  return { requests, downloads: new S3Downloads(client, 'results', { now: () => NOW }) };
}

const file = (chunks: readonly string[], storedAs?: string) => ({
  name: 'a-bt-1-trades.csv',
  contentType: 'text/csv; charset=utf-8',
  ...(storedAs !== undefined && { storedAs }),
  chunks: async function* () {
    yield* chunks;
  },
});

/** Signature of a presigned GET, as "Authenticating Requests: Using Query Parameters" of the S3 reference defines it. */
function signatureOf({ host, pathname, searchParams }: URL): string {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  const query = [...searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const request = ['GET', pathname, query, `host:${host}\n`, 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const scope = '20261123/eu-central-1/s3/aws4_request';
  const hashed = createHash('sha256').update(request).digest('hex');
  const text = ['AWS4-HMAC-SHA256', '20261123T070000Z', scope, hashed].join('\n');
  const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();
  const key = scope.split('/').reduce<string | Buffer>((each, part) => hmac(each, part), `AWS4${SECRET}`);
  return hmac(key, text).toString('hex');
}

it('stored file is offered at a presigned address for five minutes, and nothing is sent', async () => {
  const { requests, downloads: offers } = downloads();
  const { url, expires_at } = await offers.offer('bt-1', file([], 'results/bt-1/1/trades.parquet'));
  expect(requests).toEqual([]);
  expect(expires_at).toBe('2026-11-23T07:05:00.000Z');
  const address = new URL(url);
  expect(address.origin + address.pathname).toBe(
    'https://results.s3.eu-central-1.amazonaws.com/results/bt-1/1/trades.parquet',
  );
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    'X-Amz-Expires': '300',
    // A browser sends no other header.
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Security-Token': 'to/ken+=',
    'response-content-disposition': 'attachment; filename="a-bt-1-trades.csv"',
  });
  expect(address.searchParams.has('response-content-encoding')).toBe(false);
  expect(address.searchParams.get('X-Amz-Signature')).toBe(signatureOf(address));
});

it('other file is stored compressed below the exports of its job, and sent decompressed', async () => {
  const { requests, downloads: offers } = downloads();
  const { url } = await offers.offer('bt-1', file(['id,pair\r\n', '1,BTC/USDT:USDT\r\n']));
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'PUT /exports/bt-1/a-bt-1-trades.csv.gz',
  ]);
  expect(gunzipSync(requests[0]!.body).toString()).toBe('id,pair\r\n1,BTC/USDT:USDT\r\n');
  const address = new URL(url);
  expect(address.pathname).toBe('/exports/bt-1/a-bt-1-trades.csv.gz');
  expect(address.searchParams.get('response-content-encoding')).toBe('gzip');
  expect(address.searchParams.get('response-content-type')).toBe('text/csv; charset=utf-8');
  expect(address.searchParams.get('X-Amz-Signature')).toBe(signatureOf(address));
});

it('file that cannot be read is not stored', async () => {
  const { requests, downloads: offers } = downloads();
  const broken = {
    ...file([]),
    chunks: async function* () {
      yield 'id\r\n';
      throw new Error('unreadable');
    },
  };
  await expect(offers.offer('bt-1', broken)).rejects.toThrow('unreadable');
  expect(requests).toEqual([]);
});
