import * as z from 'zod';

/** Tags that AWS adds or this project sets count too, and a resource has 50 at most. */
const MAX_TAGS = 40;

/** Why AWS would reject tags with these names, which a deployment would tell after minutes; undefined if it accepts them. */
function tagsProblem(names: readonly string[]): string | undefined {
  if (names.length > MAX_TAGS) return `are more than ${MAX_TAGS}: remove some`;
  if (names.some((name) => name.trim() === '')) return 'have a blank name: write one with letters or digits';
  const seen = new Set<string>();
  for (const name of names) {
    // IAM tells no case from another.
    if (seen.has(name.toLowerCase())) return `have ${JSON.stringify(name)} twice, in another case: keep one`;
    seen.add(name.toLowerCase());
  }
  return undefined;
}

/** Settings of how a stage is deployed. */
export const deploymentSettings = {
  instance: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,11}$/, 'write up to 12 lower-case letters and digits, with a letter first')
    .optional()
    .describe(
      'Name of this deployment, to have several of one stage in an account and region: a part of the names of its stacks and of all that is named after them, and a dimension of its metrics. A stage that gets another name is another deployment, with its own data.',
    ),
  tags: z
    .record(
      z
        .string()
        .regex(
          /^(?!aws:)(?!(?:service|stage|instance)$)[\p{L}\p{Z}\p{N}_.:/=+@-]{1,128}$/iu,
          'write up to 128 letters, digits, spaces and _.:/=+-@, without aws: first; service, stage and instance are set already',
        ),
      z
        .string()
        .regex(/^[\p{L}\p{Z}\p{N}_.:/=+@-]{0,256}$/u, 'write up to 256 letters, digits, spaces and _.:/=+-@'),
    )
    .superRefine((tags, context) => {
      const names = Object.keys(tags);
      const message = tagsProblem(names);
      if (message !== undefined) context.addIssue({ code: 'custom', message, input: names.length });
    })
    .default({})
    .describe(
      'Tags of all stacks and their resources, such as the cost center, in addition to `service` and `stage`.',
    ),
  bootstrapQualifier: z
    .string()
    .regex(/^[a-z0-9]{1,10}$/, 'write up to 10 lower-case letters and digits')
    .optional()
    .describe(
      "Qualifier of the bootstrap stack that deploys the stage, from `cdk bootstrap --qualifier`. Absent: the CDK's own, `hnb659fds`.",
    ),
  apiGatewayLogRole: z
    .enum(['own', 'existing'])
    .default('own')
    .describe(
      "API Gateway's role for logs, one for the whole account and region. `own`: each deployment that changes it sets one of this stage in its place, and it outlives the stage. `existing`: the account's role stays as it is, and must exist.",
    ),
  trafficShift: z
    .union(
      [
        z.literal(false),
        z.strictObject({ percent: z.int().min(1).max(50), minutes: z.int().min(1).max(120) }),
      ],
      'write false, or percent (1 to 50) and minutes (1 to 120)',
    )
    .default(false)
    .describe(
      'Backend, strategy service, event streams and data proxy shift to a new version by CodeDeploy: `percent` of the calls for `minutes`, then all. An error of the new version ends the deployment and shifts back. A deployment that changes all of them takes about three times `minutes`. 1.20 USD per month. False: they switch in one step.',
    ),
  baseImage: z
    .string()
    .regex(
      /^[a-z0-9.-]+(:\d+)?\/[a-z0-9._/-]+(:[\w.-]{1,128})?(@sha256:[0-9a-f]{64})?$/,
      'write registry/name:tag, with @sha256: and the digest to pin it',
    )
    .default('public.ecr.aws/docker/library/node:24-slim')
    .describe(
      "Base image of the tasks' image: Node 24 on linux/arm64. Pin it by its digest with `npm run base-image`; without one, each build takes what the tag names then.",
    ),
};
