import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { StoredSignals } from '#contract/market-data/stored-signals.ts';
import { SIGNALS_CONTENT_TYPES } from '#contract/values/signals-limits.ts';
import type { Clock } from '#domain/ports.ts';
import type { SignalFiles } from '#domain/signals/signals-ports.ts';
import { signalsKey } from '../signals/keys.ts';
import { StoredSignalFiles } from '../signals/stored-signal-files.ts';
import { presign } from './presign.ts';
import { S3ObjectStore } from './s3-object-store.ts';

/** Duration of an address, seconds: 32 MiB within it need 300 kbit/s. S3 finishes an upload that it has begun. */
const LIFETIME_S = 900;

/**
 * Uploads to the bucket of results by presigned addresses. Size, type and SHA-256 are signed headers, so S3 accepts only the bytes of
 * the record: an address that is used again stores the same file.
 */
export class S3SignalFiles extends StoredSignalFiles implements SignalFiles {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #clock: Clock;

  constructor(client: S3Client, bucket: string, clock: Clock) {
    super(new S3ObjectStore(client, bucket));
    this.#client = client;
    this.#bucket = bucket;
    this.#clock = clock;
  }

  async offer({ signals_id, format, bytes, sha256 }: StoredSignals) {
    const now = this.#clock.now();
    const headers = {
      'content-type': SIGNALS_CONTENT_TYPES[format],
      'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
    };
    const command = new PutObjectCommand({ Bucket: this.#bucket, Key: signalsKey(signals_id) });
    const url = await presign(this.#client, command, {
      at: new Date(now),
      lifetimeS: LIFETIME_S,
      // Clients send the length of the body themselves.
      headers: { ...headers, 'content-length': String(bytes) },
    });
    return { url, headers, expires_at: new Date(now + LIFETIME_S * 1_000).toISOString() };
  }
}
