import { createHash, createHmac } from 'node:crypto';
import { S3Client } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { S3SignalFiles } from '#adapters/aws/s3-signal-files.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const NOW = Date.UTC(2026, 10, 23, 7);
const FILE = Buffer.from('timestamp,pair,enter_long\n');
const SHA256 = createHash('sha256').update(FILE).digest();

const client = new S3Client({
  region: 'eu-central-1',
  credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: SECRET },
});

/** Signature of a presigned PUT with these headers, as the S3 reference defines it. */
function signatureOf({ pathname, searchParams }: URL, headers: Readonly<Record<string, string>>): string {
  const query = [...searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join('&');
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join('');
  const request = ['PUT', pathname, query, lines, names.join(';'), 'UNSIGNED-PAYLOAD'].join('\n');
  const scope = '20261123/eu-central-1/s3/aws4_request';
  const hashed = createHash('sha256').update(request).digest('hex');
  const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();
  const key = scope.split('/').reduce<string | Buffer>((each, part) => hmac(each, part), `AWS4${SECRET}`);
  return hmac(key, ['AWS4-HMAC-SHA256', '20261123T070000Z', scope, hashed].join('\n')).toString('hex');
}

it('address is signed for size, type and digest of the file, for fifteen minutes', async () => {
  const { url, headers, expires_at } = await new S3SignalFiles(client, 'results', { now: () => NOW }).offer({
    schema_version: 1,
    signals_id: 'sg-1',
    owner: 'ann',
    name: null,
    format: 'csv',
    last_used_at: null,
    bytes: FILE.length,
    sha256: SHA256.toString('hex'),
    created_at: new Date(NOW).toISOString(),
  });
  expect(expires_at).toBe('2026-11-23T07:15:00.000Z');
  expect(headers).toEqual({
    'content-type': 'text/csv',
    'x-amz-checksum-sha256': SHA256.toString('base64'),
  });
  const address = new URL(url);
  expect(address.origin + address.pathname).toBe(
    'https://results.s3.eu-central-1.amazonaws.com/signals/sg-1',
  );
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    'X-Amz-Expires': '900',
    // S3 rejects a request in which one of these differs, and a body with another checksum.
    'X-Amz-SignedHeaders': 'content-length;content-type;host;x-amz-checksum-sha256',
  });
  const sent = { ...headers, 'content-length': String(FILE.length), host: address.host };
  expect(address.searchParams.get('X-Amz-Signature')).toBe(signatureOf(address, sent));
  const longer = { ...sent, 'content-length': String(FILE.length + 1) };
  expect(address.searchParams.get('X-Amz-Signature')).not.toBe(signatureOf(address, longer));
});
