import { Annotations } from 'aws-cdk-lib';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { Monitoring } from '../parts/monitoring.ts';
import { rejectsImages } from '../settings/config.ts';
import { ImageRun } from './image-run.ts';
import { TaskImage } from './task-image.ts';
import { type ImageTask, imageTask, type JobTasksProps } from './tasks.ts';

interface RegisteredImagesProps extends JobTasksProps {
  readonly monitoring: Monitoring;
  readonly cluster: ecs.ICluster;
  /** Code of a function by its name. */
  readonly code: (name: string) => lambda.Code;
}

/** All that runs images of registered versions: their task, and the functions that prepare it and record what it wrote. */
export interface RegisteredImages extends ImageTask {
  readonly taskImage: TaskImage;
  /** Environment variables of the backend. */
  readonly forBackend: ImageTask['runs'] & { readonly REJECT_IMAGES: 'true' | 'false' };
  readonly imageRun: ImageRun;
}

export function registeredImages(
  scope: Construct,
  { monitoring, cluster, code, ...tasks }: RegisteredImagesProps,
): RegisteredImages {
  const { config, data, common } = tasks;
  const { task, runs } = imageTask(scope, tasks);
  const REJECT_IMAGES = rejectsImages(config) ? 'true' : 'false';
  if (config.network === 'public' && config.allowForeignImages) {
    Annotations.of(scope).addWarningV2(
      'touchstone:allowForeignImages',
      `Code of registered images reaches the internet in ${config.stage}. Set network to isolated, or remove allowForeignImages.`,
    );
  }
  const taskImage = new TaskImage(scope, 'TaskImage', {
    config,
    monitoring,
    imageTask: task,
    code: code('task-image'),
    environment: { ...common, REJECT_IMAGES },
  });
  const imageRun = new ImageRun(scope, 'ImageRun', {
    config,
    monitoring,
    data,
    cluster,
    code: code('image-run'),
    environment: {
      ...common,
      ...runs,
      RESULTS_BUCKET: data.results.bucketName,
      JOBS_TABLE: data.tables.jobs.tableName,
      SERIES_TABLE: data.tables.series.tableName,
    },
    definitions: taskImage.definitions,
  });
  return { task, runs, taskImage, imageRun, forBackend: { ...runs, REJECT_IMAGES } };
}
