import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DeleteObjectsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getMimeType } from 'hono/utils/mime';

/** Folder of the files whose names have a hash of their content. */
const HASHED = 'assets/';
const ENTRY = 'index.html';
const FOREVER = 'public, max-age=31536000, immutable';
/** Browsers and CloudFront ask whether the file has changed. */
const ASK = 'no-cache';
/** Concurrent uploads: as many as the client has connections. */
const UPLOADS = 50;

interface Upload {
  readonly key: string;
  readonly body: Uint8Array | string;
}

/** Files of the dashboard in their bucket. */
export class WebFiles {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  /**
   * Uploads a build and its configuration: first the files with hashed names, then those that do not name others, and the entry page
   * last, so that a page finds its files at every moment. Files of earlier builds stay, because open pages load parts of them later.
   * A repeated call uploads all again.
   *
   * @throws Error for a folder without an entry page, before it uploads anything
   */
  async deploy(folder: string, config: string): Promise<number> {
    const keys = await keysOf(folder);
    if (!keys.includes(ENTRY)) throw new Error(`The build has no ${ENTRY}: run npm run build`);
    const read = async (key: string): Promise<Upload> => ({ key, body: await readFile(join(folder, key)) });
    const files = await Promise.all(keys.map(read));
    const isHashed = ({ key }: Upload) => key.startsWith(HASHED);
    const isEntry = ({ key }: Upload) => key === ENTRY;
    const others = files.filter((file) => !isHashed(file) && !isEntry(file));
    await this.#upload(files.filter(isHashed), FOREVER);
    await this.#upload([...others, { key: 'config.json', body: config }], ASK);
    await this.#upload(files.filter(isEntry), ASK);
    return files.length + 1;
  }

  /** Deletes every file: CloudFormation deletes only an empty bucket. */
  async empty(): Promise<void> {
    const pages = paginateListObjectsV2({ client: this.#client }, { Bucket: this.#bucket });
    for await (const { Contents = [] } of pages) {
      if (Contents.length === 0) continue;
      const Delete = { Objects: Contents.map(({ Key }) => ({ Key: Key! })), Quiet: true };
      const { Errors = [] } = await this.#client.send(
        new DeleteObjectsCommand({ Bucket: this.#bucket, Delete }),
      );
      if (Errors.length > 0) throw new Error(`${Errors[0]!.Key} was not deleted: ${Errors[0]!.Message}`);
    }
  }

  async #upload(files: readonly Upload[], CacheControl: string): Promise<void> {
    for (let from = 0; from < files.length; from += UPLOADS) {
      await Promise.all(
        files.slice(from, from + UPLOADS).map(({ key, body }) =>
          this.#client.send(
            new PutObjectCommand({
              Bucket: this.#bucket,
              Key: key,
              Body: body,
              ContentType: getMimeType(key) ?? 'application/octet-stream',
              CacheControl,
            }),
          ),
        ),
      );
    }
  }
}

/** Paths below a folder with `/`, except hidden files such as the manifest of the build. */
async function keysOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((key) => !key.split('/').some((part) => part.startsWith('.')))
    .sort();
}
