import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { Downloads, ExportFile } from '#domain/backtests/export-backtest.ts';
import type { Clock } from '#domain/ports.ts';
import { exportsPrefix } from '../objects/result-store.ts';
import { presign } from './presign.ts';
import { S3ObjectStore } from './s3-object-store.ts';

/** Duration of an address, seconds: enough to open it. S3 finishes a download that it has begun. */
const LIFETIME_S = 300;
/** Lowest compression: columns of numbers lose half at once, and higher levels save little more. */
const GZIP_LEVEL = 1;

/**
 * Downloads from the bucket of results by presigned addresses. A file that is not stored yet is compressed and stored below the
 * job's prefix of exports, which expires.
 */
export class S3Downloads implements Downloads {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #clock: Clock;

  constructor(client: S3Client, bucket: string, clock: Clock) {
    this.#client = client;
    this.#bucket = bucket;
    this.#clock = clock;
  }

  async offer(jobId: string, file: ExportFile) {
    const now = this.#clock.now();
    const key = file.storedAs ?? (await this.#store(jobId, file));
    const command = new GetObjectCommand({
      Bucket: this.#bucket,
      Key: key,
      ResponseContentType: file.contentType,
      ResponseContentDisposition: `attachment; filename="${file.name}"`,
      // The browser decompresses it, so the saved file is plain.
      ...(file.storedAs === undefined && { ResponseContentEncoding: 'gzip' }),
    });
    const url = await presign(this.#client, command, { at: new Date(now), lifetimeS: LIFETIME_S });
    return { url, expires_at: new Date(now + LIFETIME_S * 1_000).toISOString() };
  }

  async #store(jobId: string, { name, chunks }: ExportFile): Promise<string> {
    const gzip = createGzip({ level: GZIP_LEVEL });
    const [body] = await Promise.all([buffer(gzip), pipeline(chunks(), gzip)]);
    const key = `${exportsPrefix(jobId)}/${name}.gz`;
    await new S3ObjectStore(this.#client, this.#bucket).put(key, body, 'application/gzip');
    return key;
  }
}
