import * as z from 'zod';
import { bounds } from '../values/bounds.ts';

/** Tests of robustness that a run makes on request: `config.robustness`. */
export const ROBUSTNESS_LIMITS = {
  /** Fewer samples cannot give a p-value of 5 %. */
  random_entries: { min: 19, max: 10_000, integer: true },
  permutations: { min: 19, max: 1_000, integer: true },
} as const;

/** As resolved: only what was asked for. */
export const RobustnessTests = z
  .object({
    cost_sweep: z.literal(true).optional(),
    random_entries: z.int().optional(),
    permutations: z.int().optional(),
    capacity: z.literal(true).optional(),
  })
  .meta({ id: 'RobustnessTests' });
export type RobustnessTests = z.infer<typeof RobustnessTests>;

export const RobustnessRequest = z
  .looseObject({
    cost_sweep: z.boolean().optional().meta({
      description: 'Simulate with costs of 0 to 50 basis points a side and delays of 0 to 2 candles',
      default: false,
    }),
    random_entries: z
      .number()
      .optional()
      .meta({
        description:
          'Number of random placements of the trades with which their profit is compared. Default: no test',
        ...bounds(ROBUSTNESS_LIMITS.random_entries),
      }),
    permutations: z
      .number()
      .optional()
      .meta({
        description:
          'Number of runs over permuted candles with which the profit is compared; each costs as much as a run. Default: no test',
        ...bounds(ROBUSTNESS_LIMITS.permutations),
      }),
    capacity: z.boolean().optional().meta({
      description:
        'Simulate with market impact and growing multiples of wallet and stakes until the profit is gone',
      default: false,
    }),
  })
  .meta({ description: 'Further tests of robustness. Default: none' });
