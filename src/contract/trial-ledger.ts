import * as z from 'zod';

/** Trials of a user: every backtest and hyperopt trial on overlapping candles. */

/** Field of every stored job that counts as a trial. */
export const triedJobFields = {
  /** Session of the owner that the job belongs to; absent without one. */
  session: z.string().optional(),
};

export const SessionName = z.string().nullable().meta({
  description: 'Session of the submission, from its header `Touchstone-Session`; null without one',
});
