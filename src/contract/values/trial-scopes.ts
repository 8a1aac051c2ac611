/** Whose trials deflate the Sharpe ratio of a run. Those of the owner include the others. */
export const TRIAL_SCOPES = ['owner', 'strategy', 'session'] as const;
export type TrialScope = (typeof TRIAL_SCOPES)[number];
