import * as z from 'zod';

export const Health = z
  .object({
    status: z.string().meta({ description: '`healthy`, or `degraded` while a dependency is not healthy' }),
    service: z.string(),
    version: z.string().meta({ description: "The service's own version" }),
    dependencies: z
      .record(z.string(), z.string())
      .meta({ description: 'Status of each dependency by name, such as `healthy` or `unavailable`' }),
    reason: z.string().optional().meta({ description: 'Reason of the degraded status; absent when healthy' }),
  })
  .meta({ id: 'Health' });
