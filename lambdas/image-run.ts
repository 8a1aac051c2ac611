import { openImageRuns } from '#adapters/aws/open-image-runs.ts';
import { ImageRunEnv } from '#contract/env/image-run-env.ts';
import { readEnv } from '#runtime/env.ts';
import { imageRunLambda } from '#runtime/image-run.ts';
import { createLogger } from '#runtime/log.ts';

const env = readEnv(ImageRunEnv);
const logger = createLogger('image-run', env.LOG_LEVEL);

export const handler = imageRunLambda(openImageRuns(env), { logger });
