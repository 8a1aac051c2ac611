import { RemovalPolicy } from 'aws-cdk-lib';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { StageConfig } from './config.ts';

/** A log group with the stage's retention; a protected stage keeps it when its stack goes. */
export function logGroup(
  scope: Construct,
  id: string,
  config: StageConfig,
  logGroupName?: string,
): logs.LogGroup {
  return new logs.LogGroup(scope, id, {
    logGroupName,
    retention: config.logRetentionDays,
    removalPolicy: config.protect ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
}
