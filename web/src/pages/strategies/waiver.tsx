import { useState } from 'react';
import type { OperationId, RequestOf } from '../../api/client.ts';
import { useDenial } from '../../auth/act.tsx';
import { CheckGroup } from '../../forms/choices.tsx';
import { TextField } from '../../forms/inputs.tsx';
import { words } from '../../ui/format.ts';
import type { Check } from './check-list.tsx';

type Waive = NonNullable<NonNullable<RequestOf<'promoteVersion'>['body']>['waive']>;

export interface WaiverDraft {
  /** Failed checks of the release policy. */
  readonly failed: readonly string[];
  readonly checks: readonly string[];
  readonly reason: string | undefined;
  readonly setChecks: (checks: readonly string[]) => void;
  readonly setReason: (reason: string | undefined) => void;
  /** Part of the request; empty while nothing is waived. */
  readonly body: { readonly waive?: Waive };
}

/** What an admin waives of the checks that a transition failed. */
export function useWaiver(checks: readonly Check[]): WaiverDraft {
  const [waived, setChecks] = useState<readonly string[]>([]);
  const [reason, setReason] = useState<string>();
  const failed = checks.filter(({ status }) => status === 'failed').map(({ name }) => name);
  const body = waived.length > 0 ? { waive: { checks: [...waived], reason } } : {};
  return { failed, checks: waived, reason, setChecks, setReason, body };
}

/** Shown after a rejection: an admin may waive failed checks of the release policy, with a reason that is kept. */
export function WaiverFields(props: { readonly operation: OperationId; readonly waiver: WaiverDraft }) {
  const { operation, waiver } = props;
  const denial = useDenial(operation, 'waive');
  if (waiver.failed.length === 0) return null;
  if (denial) return <p className="muted">{denial} to waive checks of the release policy.</p>;
  return (
    <>
      <CheckGroup
        label="Waive checks of the release policy"
        path="waive.checks"
        options={waiver.failed.map((value) => ({ value, label: words(value) }))}
        values={waiver.checks}
        onChange={waiver.setChecks}
      />
      <TextField
        label="Reason of the waiver"
        path="waive.reason"
        help="Required. Kept in the history and the catalog."
        value={waiver.reason}
        onChange={waiver.setReason}
      />
    </>
  );
}
