import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import type { ObjectStore, StoredObject } from '#domain/ports.ts';
import { reportUnavailable } from '../dynamo/unavailable-errors.ts';
import { checkObjectKey, checkObjectPrefix } from '../objects/object-key.ts';
import { storedObject, tooLarge } from '../objects/stored-object.ts';
import { sha256 } from '../sha256.ts';

/** Write conflicts: the object changed, was deleted, or is being written. */
const CONFLICTS = new Set(['PreconditionFailed', 'ConditionalRequestConflict', 'NoSuchKey']);

/**
 * Client of all buckets. Commands throw DATA005 when S3 is unavailable. Worst case of one call: 3 attempts of 30 s.
 * Results and months of candles have up to some tens of megabytes, a few seconds within a region.
 *
 * @param endpoint an S3-compatible server, addressed by path and with any credentials; absent: AWS
 */
export function createS3Client({ endpoint }: { readonly endpoint?: string } = {}): S3Client {
  const client = new S3Client({
    ...(endpoint && {
      endpoint,
      forcePathStyle: true,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 30_000, throwOnRequestTimeout: true },
  });
  return reportUnavailable(client, 'DATA005');
}

/** Objects of one bucket. */
export class S3ObjectStore implements ObjectStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  /** @param prefix of every key, with its slash; it may have characters that a key has not */
  constructor(client: S3Client, bucket: string, prefix = '') {
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix;
  }

  async put(key: string, body: Uint8Array, contentType: string): Promise<{ etag: string }> {
    return this.#put(key, body, contentType, {});
  }

  async putIf(
    key: string,
    body: Uint8Array,
    contentType: string,
    expected: string | null,
  ): Promise<{ etag: string } | undefined> {
    const condition = await this.#conditionFor(key, expected);
    if (!condition) return undefined;
    try {
      return await this.#put(key, body, contentType, condition);
    } catch (error) {
      if (error instanceof S3ServiceException && CONFLICTS.has(error.name)) return undefined;
      throw error;
    }
  }

  async get(key: string, maxBytes = Number.POSITIVE_INFINITY): Promise<StoredObject | undefined> {
    checkObjectKey(key);
    try {
      const { Body, ContentType, ContentLength } = await this.#client.send(
        new GetObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + key }),
      );
      if (ContentLength! > maxBytes) {
        (Body as Readable).destroy();
        throw tooLarge(key, ContentLength!, maxBytes);
      }
      return storedObject(await Body!.transformToByteArray(), ContentType ?? 'application/octet-stream');
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    }
  }

  async delete(key: string): Promise<void> {
    checkObjectKey(key);
    await this.#client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + key }));
  }

  async *list(prefix: string): AsyncIterable<string> {
    checkObjectPrefix(prefix);
    const pages = paginateListObjectsV2(
      { client: this.#client },
      { Bucket: this.#bucket, Prefix: this.#prefix + prefix },
    );
    for await (const { Contents = [] } of pages) {
      yield* Contents.map((object) => object.Key!.slice(this.#prefix.length));
    }
  }

  async folders(folder: string): Promise<readonly string[]> {
    checkObjectPrefix(folder);
    const Prefix = this.#prefix + folder;
    const pages = paginateListObjectsV2(
      { client: this.#client },
      { Bucket: this.#bucket, Prefix, Delimiter: '/' },
    );
    const found: string[] = [];
    for await (const { CommonPrefixes = [] } of pages) {
      found.push(...CommonPrefixes.map((each) => each.Prefix!.slice(Prefix.length, -1)));
    }
    return found;
  }

  async #put(
    key: string,
    body: Uint8Array,
    contentType: string,
    condition: { IfMatch?: string; IfNoneMatch?: string },
  ): Promise<{ etag: string }> {
    checkObjectKey(key);
    const etag = sha256(body);
    await this.#client.send(
      new PutObjectCommand({
        Bucket: this.#bucket,
        Key: this.#prefix + key,
        Body: body,
        ContentType: contentType,
        ChecksumSHA256: Buffer.from(etag, 'hex').toString('base64'),
        ...condition,
      }),
    );
    return { etag };
  }

  /** Condition for S3, whose ETag is not our hash. Undefined if the stored object differs from `expected` already. */
  async #conditionFor(key: string, expected: string | null) {
    checkObjectKey(key);
    if (expected === null) return { IfNoneMatch: '*' };
    try {
      const { ETag, ChecksumSHA256 } = await this.#client.send(
        new HeadObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + key, ChecksumMode: 'ENABLED' }),
      );
      // Objects put by other tools may lack this checksum.
      const current = ChecksumSHA256
        ? Buffer.from(ChecksumSHA256, 'base64').toString('hex')
        : (await this.get(key))?.etag;
      return current === expected ? { IfMatch: ETag! } : undefined;
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }
}
