import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { createEcsClient, TaskDefinitions } from '#adapters/aws/ecs-tasks.ts';
import { TaskImageEnv } from '#contract/env/env.ts';
import { checkImageUri } from '#domain/registry/container-image.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';

const env = readEnv(TaskImageEnv);
const logger = createLogger('task-image', env.LOG_LEVEL);
const definitions = new TaskDefinitions(createEcsClient(), env.IMAGE_TASK_DEFINITION);

/** Called by the state machine with the image of an execution. Returns the task definition that runs it. */
export const handler = middy(async ({ image }: { readonly image: string }) => {
  // The services reject it before: this holds for jobs that waited while the setting changed.
  if (env.REJECT_IMAGES) throw new Error('This stage runs no registered images');
  const uri = checkImageUri(image, env.ALLOWED_REGISTRIES ?? null);
  const definition = await definitions.forImage(uri);
  logger.info('image prepared', { image, task_definition: definition });
  return { task_definition: definition };
}).use(injectLambdaContext(logger, { resetKeys: true }));
