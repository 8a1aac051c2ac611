import { Duration } from 'aws-cdk-lib';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledge } from './construct-helpers.ts';
import { FIVE_MINUTES, type Monitoring, type Urgency } from './monitoring.ts';

/** A queue for messages that nobody could process, kept for two weeks, with an alarm that rings at the first one. */
export function deadLetterQueue(
  scope: Construct,
  id: string,
  monitoring: Monitoring,
  alarm: { readonly id: string; readonly urgency: Urgency; readonly impact: string },
): sqs.Queue {
  const queue = new sqs.Queue(scope, id, {
    encryption: sqs.QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  });
  acknowledge(queue, { 'AwsSolutions-SQS3': 'This is a dead-letter queue.' });
  monitoring.alarm(scope, alarm.id, {
    urgency: alarm.urgency,
    metric: queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period: FIVE_MINUTES }),
    threshold: 1,
    impact: alarm.impact,
  });
  return queue;
}
