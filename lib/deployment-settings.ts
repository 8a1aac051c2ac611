import * as z from 'zod';

/** Settings of how a stage is deployed. */
export const deploymentSettings = {
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
      'Backend, strategy service, event streams and data proxy shift to a new version by CodeDeploy: `percent` of the calls for `minutes`, then all. An error of the new version ends the deployment and shifts back. A deployment that changes all of them takes about three times `minutes`. 0.80 USD per month. False: they switch in one step.',
    ),
};
