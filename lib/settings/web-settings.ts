import * as z from 'zod';

/** Regions to which CloudFront's standard logs are not delivered. */
const WITHOUT_WEB_LOG = ['af-south-1', 'ap-east-1', 'eu-south-1', 'me-south-1'];

const CERTIFICATE = /^arn:aws(-[a-z]+)*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/;

/** Settings of the dashboard and its CloudFront distribution. */
export const webSettings = {
  web: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Deploy the dashboard.'),
      domain: z
        .strictObject({
          name: z
            .string()
            .regex(
              /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$/,
              'write a domain such as "dashboard.example.com"',
            )
            .describe('Name of the dashboard, such as `dashboard.example.com`.'),
          certificateArn: z
            .string()
            .regex(CERTIFICATE, 'write the ARN of a certificate of ACM')
            .refine(
              (arn) => !CERTIFICATE.test(arn) || arn.split(':')[3] === 'us-east-1',
              'is of another region than us-east-1, from which alone CloudFront reads certificates: request one there, also for a stage in another region',
            )
            .describe('Certificate for the name, in us-east-1, in whichever region the stage is.'),
          hostedZoneId: z
            .string()
            .regex(/^Z[A-Z0-9]{1,31}$/, 'write the ID of a hosted zone, such as "Z0123456789ABCDEFGHIJ"')
            .optional()
            .describe(
              "Zone of Route 53 in the stage's account, for the DNS records. Absent: an output says which to create.",
            ),
        })
        .optional()
        .describe(
          'Own domain of the dashboard, with TLS 1.2 or later. Absent: the name that CloudFront gives, which accepts older TLS too.',
        ),
      distributionName: z
        .string()
        .regex(/^[a-z0-9]{8,20}\.cloudfront\.net$/, 'write a name such as "d111111abcdef8.cloudfront.net"')
        .optional()
        .describe(
          'Name that CloudFront gave the dashboard, as the output WebUrl of the first deployment has it: without a domain, the user pool needs it to allow the sign-in.',
        ),
      priceClass: z
        .enum(['100', '200', 'all'])
        .default('100')
        .describe(
          'Locations that serve the dashboard. `100`: North America and Europe, the cheapest; `200`: also Asia, the Middle East and Africa; `all`: every one.',
        ),
      accessLog: z
        .boolean()
        .default(false)
        .describe(
          "CloudFront's log of requests in a bucket, kept as long as retention.accessLog says; it costs its storage. The APIs log their requests in any case.",
        ),
    })
    .prefault({})
    .describe(
      'The dashboard: its files in a bucket, and CloudFront before these and the APIs. No fixed cost but two secrets, 0.80 USD per month; 1.10 USD per million requests.',
    ),
};

type Web = z.infer<typeof webSettings.web>;

/** Rules between settings of the dashboard and others, for the schema of a stage. */
export function checkWeb({
  value: { web, env },
  issues,
}: z.core.ParsePayload<{
  readonly web: Web;
  readonly env?: { readonly region: string } | undefined;
}>): void {
  const problem = (path: string[], message: string) =>
    issues.push({ code: 'custom', path: ['web', ...path], message, input: web });
  if (web.domain && web.distributionName) {
    problem(['distributionName'], 'is not needed with web.domain: remove it');
  }
  if (web.accessLog && env && WITHOUT_WEB_LOG.includes(env.region)) {
    problem(
      ['accessLog'],
      `cannot be in ${env.region}, where CloudFront delivers no standard logs: remove it`,
    );
  }
}

/** Origin of the dashboard; undefined while only CloudFront knows it, or without a dashboard. */
export function webOrigin({ web }: { readonly web: Web }): string | undefined {
  const name = web.domain?.name ?? web.distributionName;
  return web.enabled && name ? `https://${name}` : undefined;
}
