/** Statuses of a job, in the order of its life. */
export const STATUSES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;
export type JobStatus = (typeof STATUSES)[number];

/** True if a job of the list may change by itself. */
export function isAnyMoving({ items }: { readonly items: readonly { readonly status: string }[] }): boolean {
  return items.some(({ status }) => status === 'pending' || status === 'running');
}
