import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { useAction, useCall } from '../../api/queries.ts';
import { useMe } from '../../auth/me.ts';
import { SelectField } from '../../forms/choices.tsx';
import { Form } from '../../forms/form.tsx';
import { TextField } from '../../forms/inputs.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';

type Sharing = ResponseOf<'getBacktestSharing'>;
type Level = Sharing['shared_with'][number]['level'];

/** A grant while it is edited; `key` stays when others are removed. */
interface Row {
  readonly key: number;
  readonly principal: string | undefined;
  readonly level: Level;
}

const LEVELS = [
  { value: 'read', label: 'may read' },
  { value: 'write', label: 'may read and change' },
] as const;

/** Owner of a backtest and with whom it is shared. */
export function SharingDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const sharing = useCall('getBacktestSharing', { params: { job_id: id } });
  return (
    <Dialog title="Share this backtest" onClose={onClose}>
      <div className="pad">
        <Loaded query={sharing} skeleton={<Skeleton rows={4} />}>
          {(data) => <Grants id={id} sharing={data} onClose={onClose} />}
        </Loaded>
      </div>
    </Dialog>
  );
}

/** Who may see and change the job. Long because it is the markup of one form: grants, a new grant and visibility. */
function Grants(props: { readonly id: string; readonly sharing: Sharing; readonly onClose: () => void }) {
  const { id, sharing, onClose } = props;
  const me = useMe();
  const share = useAction('shareBacktest', ['getBacktestSharing', 'getBacktest']);
  const [rows, setRows] = useState<readonly Row[]>(() =>
    sharing.shared_with.map(({ principal, level }, key) => ({ key, principal, level })),
  );
  // A refresh while the dialog is open does not change the rows.
  const [read] = useState(sharing.shared_with);
  const isOwner = me?.subject === sharing.owner || me?.roles.includes('admin') === true;
  const change = (key: number, fields: Partial<Row>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...fields } : row)));
  const add = () =>
    setRows([
      ...rows,
      { key: Math.max(-1, ...rows.map((row) => row.key)) + 1, principal: undefined, level: 'read' },
    ]);
  const save = () =>
    share.mutate(
      {
        params: { job_id: id },
        body: {
          shared_with: rows.map(({ principal = '', level }) => ({ principal, level })),
          expected_shared_with: read,
        },
      },
      { onSuccess: onClose },
    );
  return (
    <Form
      label="Sharing"
      error={share.error}
      onSubmit={save}
      actions={
        <button
          type="submit"
          className="btn primary"
          disabled={!isOwner || share.isPending}
          title={isOwner ? undefined : 'Only the owner and admins may share it'}
        >
          Save
        </button>
      }
    >
      <p className="muted">
        Owner: <code>{sharing.owner}</code>. A principal is <code>user:</code> and an id, <code>group:</code>{' '}
        and a name, or <code>everyone</code>.
      </p>
      {rows.length === 0 && <p>Only the owner and admins see it.</p>}
      {rows.map(({ key, principal, level }, index) => (
        <div key={key} className="report-grant">
          <TextField
            label="Principal"
            path={`shared_with.${index}.principal`}
            value={principal}
            onChange={(next) => change(key, { principal: next })}
            placeholder="user:ada"
          />
          <SelectField
            label="Access"
            path={`shared_with.${index}.level`}
            value={level}
            options={LEVELS}
            onChange={(next) => change(key, { level: next ?? 'read' })}
          />
          <button
            type="button"
            className="btn icon"
            aria-label={`Remove ${principal ?? 'this grant'}`}
            onClick={() => setRows(rows.filter((row) => row.key !== key))}
          >
            <Trash2 aria-hidden="true" />
          </button>
        </div>
      ))}
      <div>
        <button type="button" className="btn small" onClick={add} disabled={!isOwner}>
          <Plus aria-hidden="true" /> Add
        </button>
      </div>
    </Form>
  );
}
