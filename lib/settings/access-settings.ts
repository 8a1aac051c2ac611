import * as z from 'zod';

/** Settings of who may call the services, and of what the stage's roles may do. */
export const accessSettings = {
  openAccess: z
    .boolean()
    .default(false)
    .describe(
      'A token is optional, and verified when sent: anyone who finds the address has every role. Not allowed in prod.',
    ),
  identity: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('none') }),
      z.strictObject({
        kind: z.literal('own'),
        hostedUi: z
          .strictObject({
            domainPrefix: z
              .string()
              .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'write lower-case letters, digits and hyphens')
              .describe(
                'Prefix of `https://{domainPrefix}.auth.{region}.amazoncognito.com`, unique in the region.',
              ),
            callbackUrls: z.array(z.url({ protocol: /^https$/, error: 'write a URL with https' })).min(1),
          })
          .optional()
          .describe(
            "Cognito's sign-in pages for browser applications. Absent: pages only for the dashboard.",
          ),
      }),
      z.strictObject({
        kind: z.literal('existing'),
        userPoolId: z.string(),
        clientId: z.string().min(1),
        region: z.string(),
        signInUrl: z
          .url({ protocol: /^https$/, error: 'write a URL with https' })
          .regex(/[^/]$/, 'write the URL without a slash at its end')
          .optional()
          .describe(
            "Address of the pool's sign-in pages, such as `https://desk.auth.eu-central-1.amazoncognito.com`, for the dashboard. Its client must allow the scope `openid` and the dashboard's `/sign-in` as callback and logout URL. Absent: the dashboard takes a pasted token.",
          ),
      }),
    ])
    .describe(
      'Issuer of tokens: a new user pool of this deployment, an existing one, or none (every token is rejected).',
    ),
  machineClients: z
    .array(
      z.strictObject({
        name: z
          .string()
          .max(40)
          .regex(
            /^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$/,
            'write words of lower-case letters, with hyphens between',
          ),
        role: z.enum(['viewer', 'researcher', 'approver', 'admin']),
      }),
    )
    .default([])
    .describe(
      'Programs that get tokens with their own credentials, each with one role. Each costs 6 USD per month, and 2.25 per 1,000 tokens.',
    ),
  domain: z
    .strictObject({
      name: z
        .string()
        .regex(
          /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$/,
          'write a domain such as "touchstone.example.com"',
        )
        .describe('The services are at `backend.{name}` and `strategy.{name}`.'),
      certificateArn: z
        .string()
        .regex(
          /^arn:aws(-[a-z]+)*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
          'write the ARN of a certificate of ACM',
        )
        .describe('Certificate for both names, such as one for `*.{name}`, in the region of the stage.'),
      hostedZoneId: z
        .string()
        .regex(/^Z[A-Z0-9]{1,31}$/, 'write the ID of a hosted zone, such as "Z0123456789ABCDEFGHIJ"')
        .optional()
        .describe(
          "Zone of Route 53 in the stage's account, for the DNS records. Absent: outputs say which to create.",
        ),
    })
    .optional()
    .describe(
      'Addresses of the services under an own domain, with TLS 1.2 or later. Absent: those of API Gateway.',
    ),
  permissionsBoundary: z
    .string()
    .regex(/^[\w+=,.@-]{1,128}$/, 'write the name of a managed policy of the account')
    .optional()
    .describe(
      'Managed policy in the account that limits every role of the stacks, such as `touchstone-boundary` of deploy/account.json.',
    ),
};
