import * as z from 'zod';

const topicArn = z
  .string()
  .regex(/^arn:aws(-[a-z]+)*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/, 'write the ARN of a standard SNS topic')
  .optional();

/** Settings of the alarms and of whom they notify: docs/runbook.md lists those that page. */
export const alarmSettings = {
  alarms: z
    .boolean()
    .describe(
      'Alarms of docs/runbook.md, 9.40 USD per month. If false, the dashboard shows most of their metrics.',
    ),
  alarmEmail: z
    .email('write an e-mail address')
    .optional()
    .describe('Address of the alarms that page, and of tickets where they have no receiver of their own.'),
  alarmTopicArn: topicArn.describe(
    'Existing topic of the alarms that page, in place of an own one, and of tickets where they have no receiver of their own. Its policy must allow CloudWatch to publish, and without a receiver of tickets AWS Budgets and EventBridge too.',
  ),
  ticketEmail: z
    .email('write an e-mail address')
    .optional()
    .describe('Address of tickets: alarms that can wait for a working day, image findings and the budget.'),
  ticketTopicArn: topicArn.describe(
    'Existing topic of tickets, in place of an own one. Its policy must allow CloudWatch, AWS Budgets and EventBridge to publish.',
  ),
  canary: z
    .boolean()
    .describe(
      'Canary: a tiny backtest over the API every five minutes, which fires an alarm when it fails, 7.58 USD per month, and 0.80 for its two secrets.',
    ),
  monthlyBudgetUsd: z
    .int()
    .min(1)
    .optional()
    .describe(
      "Budget of the whole account per month, USD, free of charge: notifies at 80 % of it and when AWS's forecast exceeds it.",
    ),
};

const RECEIVERS = [
  ['alarmEmail', 'alarmTopicArn'],
  ['ticketEmail', 'ticketTopicArn'],
] as const;
type Receivers = Readonly<Partial<Record<(typeof RECEIVERS)[number][number], string | undefined>>>;

/** Rules of the receivers of alarms, for the schema of a stage. */
export function checkReceivers({
  value,
  issues,
}: z.core.ParsePayload<Receivers & { readonly alarms: boolean }>): void {
  const problem = (name: string, message: string) =>
    issues.push({ code: 'custom', path: [name], message, input: value });
  for (const [email, topic] of RECEIVERS) {
    for (const name of [email, topic]) {
      if (value[name] && !value.alarms) problem(name, 'receives alarms: set alarms too');
    }
    if (value[email] && value[topic]) problem(topic, `replaces the topic of ${email}: write one of them`);
  }
}
