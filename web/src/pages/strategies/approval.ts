import type { ResponseOf } from '../../api/client.ts';
import { words } from '../../ui/format.ts';

/** A request that another user decides. */
export type Approval = ResponseOf<'getApproval'>;

const ACTIONS: Readonly<Record<string, string>> = {
  stage: 'Stage',
  promote: 'Promote',
  rollback: 'Roll back to',
  stop: 'Stop',
};

/** `Promote ema_crossover v2`. */
export function approvalTitle({ action, model_name, version }: Approval): string {
  return `${ACTIONS[action] ?? words(action)} ${model_name}${version === null ? '' : ` v${version}`}`;
}
