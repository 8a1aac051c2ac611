import { useState } from 'react';
import type { OperationId } from '../../api/client.ts';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { Field } from '../../forms/field.tsx';
import { Form } from '../../forms/form.tsx';
import { TextField } from '../../forms/inputs.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { utcDate } from '../../ui/format.ts';
import type { RowDialog } from './context.ts';
import type { Row } from './data.ts';

/** Calls whose data a change of a backtest makes old. */
const CHANGED: readonly OperationId[] = ['listBacktests', 'getBacktest'];

export function RowDialogs({
  dialog,
  onClose,
}: {
  readonly dialog: RowDialog;
  readonly onClose: () => void;
}) {
  if (dialog.kind === 'note') return <NoteDialog row={dialog.row} onClose={onClose} />;
  if (dialog.kind === 'cancel') return <CancelDialog row={dialog.row} onClose={onClose} />;
  return <DeleteDialog row={dialog.row} onClose={onClose} />;
}

interface DialogProps {
  readonly row: Row;
  readonly onClose: () => void;
}

/** `fast, baseline` as tags, each once. */
function tagsOf(written: string): string[] {
  return [...new Set(written.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
}

function NoteDialog({ row, onClose }: DialogProps) {
  const [notes, setNotes] = useState(row.notes);
  const [tags, setTags] = useState(row.tags.join(', '));
  const update = useAction('updateBacktest', CHANGED);
  const save = () =>
    update.mutate(
      { params: { job_id: row.job_id }, body: { notes, tags: tagsOf(tags) } },
      { onSuccess: onClose },
    );
  return (
    <Dialog title={`Note and tags of ${row.strategy}`} onClose={onClose}>
      <div className="pad">
        <Form
          label="Note and tags"
          error={update.error}
          onSubmit={save}
          actions={
            <>
              <ActButton operation="updateBacktest" type="submit" kind="primary" isBusy={update.isPending}>
                Save
              </ActButton>
              <button type="button" className="btn" onClick={onClose}>
                Leave it as it is
              </button>
            </>
          }
        >
          <Field label="Note" path="notes" help="For everybody who may see this backtest">
            {(control) => (
              <textarea
                {...control}
                rows={5}
                value={notes}
                onChange={({ target }) => setNotes(target.value)}
              />
            )}
          </Field>
          <TextField
            label="Tags"
            path="tags"
            help="Separated by commas. The search of the list finds them"
            value={tags}
            onChange={(text) => setTags(text ?? '')}
          />
        </Form>
      </div>
    </Dialog>
  );
}

/** The run that a dialog is about. */
function RunFacts({ row }: { readonly row: Row }) {
  const { date_range, pairs, timeframe } = row;
  return (
    <p className="muted">
      {row.strategy}, {pairs.map((pair) => pair.split(':', 1)[0]).join(', ')}, {timeframe},{' '}
      {utcDate(date_range.start)} to {utcDate(date_range.end)} UTC, <code>{row.job_id}</code>
    </p>
  );
}

function DeleteDialog({ row, onClose }: DialogProps) {
  return (
    <ConfirmDialog
      title="Delete this backtest?"
      operation="deleteBacktest"
      request={{ params: { job_id: row.job_id } }}
      invalidates={['listBacktests', 'listExperiments']}
      confirm="Delete the backtest"
      keep="Keep it"
      onClose={onClose}
    >
      <RunFacts row={row} />
      <p>
        Its report, trades, curve, note and tags are removed. Nothing brings them back; the same request runs
        again from the form.
      </p>
    </ConfirmDialog>
  );
}

function CancelDialog({ row, onClose }: DialogProps) {
  return (
    <ConfirmDialog
      title="Cancel this backtest?"
      operation="cancelBacktest"
      request={{ params: { job_id: row.job_id } }}
      invalidates={CHANGED}
      confirm="Cancel the backtest"
      keep="Let it run"
      onClose={onClose}
    >
      <RunFacts row={row} />
      <p>Its status becomes cancelled, and it has no report. It cannot be resumed.</p>
    </ConfirmDialog>
  );
}
