import { join } from 'node:path';
import { createS3Client } from '#adapters/aws/s3-object-store.ts';
import { WebFiles } from '#adapters/aws/web-files.ts';
import { WebFilesEnv } from '#contract/env/env.ts';
import { customResource } from '#runtime/custom-resource.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';

const env = readEnv(WebFilesEnv);
const log = createLogger('web-files', env.LOG_LEVEL);
const files = (bucket: unknown) => new WebFiles(createS3Client(), String(bucket));

/** Called by CloudFormation. The dashboard's files are next to this one. */
export const handler = customResource(
  {
    put: async ({ bucket, config }) => {
      const count = await files(bucket).deploy(join(import.meta.dirname, 'files'), String(config));
      log.info('files uploaded', { count });
      return `${bucket}/index.html`;
    },
    remove: ({ bucket }) => files(bucket).empty(),
  },
  log,
);
