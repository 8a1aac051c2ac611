import { CreateBucketCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createS3Client, S3ObjectStore } from '#adapters/aws/s3-object-store.ts';
import { hasMoto, startMoto } from '../support/moto.ts';
import { objectStoreContract } from './object-store.contract.ts';

const available = hasMoto();
if (!available)
  console.warn('Skipped: the S3 contract needs Python with moto (python3 -c "import moto.server").');

describe.skipIf(!available)('S3ObjectStore', () => {
  let moto: Awaited<ReturnType<typeof startMoto>>;
  let client: S3Client;

  beforeAll(async () => {
    moto = await startMoto();
    client = createS3Client({ endpoint: moto.endpoint });
  });
  afterAll(async () => {
    client.destroy();
    await moto.stop();
  });

  objectStoreContract(async (bucket) => {
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    return new S3ObjectStore(client, bucket);
  });

  test('list returns more than one page of keys', async () => {
    await client.send(new CreateBucketCommand({ Bucket: 'many' }));
    const store = new S3ObjectStore(client, 'many');
    const numbers = Array.from({ length: 25 }, (_, i) => `k/${String(i).padStart(4, '0')}`);
    await Promise.all(numbers.map((key) => store.put(key, new Uint8Array(1), 'text/plain')));
    // Pages of 10 keys instead of 1,000.
    let pages = 0;
    client.middlewareStack.add(
      (next, { commandName }) =>
        (args) => {
          if (commandName !== 'ListObjectsV2Command') return next(args);
          pages++;
          return next({ ...args, input: { ...args.input, MaxKeys: 10 } as typeof args.input });
        },
      { step: 'initialize' },
    );
    const keys: string[] = [];
    for await (const key of store.list('k/')) keys.push(key);
    expect(keys).toEqual(numbers);
    expect(pages).toBe(3);
  });

  test('putIf replaces an object written by another tool', async () => {
    await client.send(new CreateBucketCommand({ Bucket: 'foreign' }));
    await client.send(new PutObjectCommand({ Bucket: 'foreign', Key: 'x.json', Body: '1' }));
    const store = new S3ObjectStore(client, 'foreign');
    const { etag } = (await store.get('x.json'))!;
    expect(await store.putIf('x.json', new Uint8Array(2), 'application/json', etag)).toBeDefined();
  });
});

test('unreachable S3 is DATA005', async () => {
  const store = new S3ObjectStore(createS3Client({ endpoint: 'http://127.0.0.1:1' }), 'bucket');
  await expect(store.get('a')).rejects.toMatchObject({ code: 'DATA005' });
});
