import { CheckCircle2, CircleDashed, CircleSlash, ShieldOff, TriangleAlert, XCircle } from 'lucide-react';
import { ApiError, type ResponseOf } from '../../api/client.ts';
import { words } from '../../ui/format.ts';

export type Check = ResponseOf<'getVersion'>['validation']['checks'][number];

const STATES = {
  passed: { Icon: CheckCircle2, tone: 'up' },
  failed: { Icon: XCircle, tone: 'down' },
  warning: { Icon: TriangleAlert, tone: 'warn' },
  pending: { Icon: CircleDashed, tone: 'muted' },
  skipped: { Icon: CircleSlash, tone: 'muted' },
  waived: { Icon: ShieldOff, tone: 'warn' },
} as const;

/** Checks that a rejected transition failed. */
export function failedChecks(error: Error | null): readonly Check[] {
  const checks = error instanceof ApiError ? error.context.checks : undefined;
  return Array.isArray(checks) ? (checks as Check[]) : [];
}

/** The checks of a stage transition, those that fail first. */
export function CheckList({ checks }: { readonly checks: readonly Check[] }) {
  const isFailed = ({ status }: Check) => status === 'failed';
  const ordered = [...checks.filter(isFailed), ...checks.filter((check) => !isFailed(check))];
  return (
    <ul className="check-list">
      {ordered.map((check) => (
        <CheckLine key={check.name} check={check} />
      ))}
    </ul>
  );
}

function CheckLine({ check: { name, status, message } }: { readonly check: Check }) {
  const { Icon, tone } = STATES[status];
  return (
    <li>
      <span className={`row ${tone}`}>
        <Icon aria-hidden="true" /> {status}
      </span>
      <span>{words(name)}</span>
      <span className="muted">{message}</span>
    </li>
  );
}
