import * as z from 'zod';

/** Settings of the alarms and of whom they notify. */
export const alarmSettings = {
  alarms: z
    .boolean()
    .describe(
      'Alarms of docs/runbook.md, 6.80 USD per month. If false, the dashboard shows most of their metrics.',
    ),
  alarmEmail: z
    .email('write an e-mail address')
    .optional()
    .describe('Address subscribed to the topic of all alarms.'),
  alarmTopicArn: z
    .string()
    .regex(/^arn:aws(-[a-z]+)*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/, 'write the ARN of a standard SNS topic')
    .optional()
    .describe(
      'Existing topic of all alarms and of the budget, in place of an own one. Its policy must allow CloudWatch and AWS Budgets to publish.',
    ),
  canary: z
    .boolean()
    .describe(
      'Canary: a tiny backtest over the API every five minutes, which fires an alarm when it fails, 8 USD per month.',
    ),
  monthlyBudgetUsd: z
    .int()
    .min(1)
    .optional()
    .describe(
      "Budget of the whole account per month, USD, free of charge: notifies at 80 % of it and when AWS's forecast exceeds it.",
    ),
};
