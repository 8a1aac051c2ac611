import { Link } from '@tanstack/react-router';
import { Ban, NotebookPen, Pin, Trash2 } from 'lucide-react';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { Status } from '../../ui/parts.tsx';
import { COMPARED } from '../../ui/run-ids.ts';
import { useListState } from './context.ts';
import type { Row } from './data.ts';

/** Box to pick the run, its status and its name, which leads to its report. */
export function NameCell({ row }: { readonly row: Row }) {
  const { picked, onPick } = useListState();
  const isPicked = picked.includes(row.job_id);
  const isFull = !isPicked && picked.length >= COMPARED.max;
  const name = `${row.strategy}, ${row.job_id}`;
  return (
    <span className="job-name">
      <input
        type="checkbox"
        aria-label={`Pick ${name}`}
        checked={isPicked}
        disabled={isFull}
        title={isFull ? `At most ${COMPARED.max} runs are compared` : 'Pick for a comparison'}
        onChange={() => onPick(row.job_id)}
      />
      <Status status={row.status} />
      <Link to="/backtests/$id" params={{ id: row.job_id }} title={name}>
        {row.strategy}
      </Link>
      {row.pinned && <Pin className="backtest-pin" role="img" aria-label="pinned" />}
    </span>
  );
}

/** Pin, note, and the end of the run: cancel while it moves, else delete. */
export function RowActions({ row }: { readonly row: Row }) {
  const { onDialog } = useListState();
  const update = useAction('updateBacktest', ['listBacktests', 'getBacktest']);
  const { job_id, status, pinned } = row;
  const isUnfinished = status === 'pending' || status === 'running';
  return (
    <span className="backtest-actions">
      <ActButton
        operation="updateBacktest"
        kind="icon"
        label={update.error ? `Pin: ${update.error.message}` : 'Pin'}
        isPressed={pinned}
        isBusy={update.isPending}
        onClick={() => update.mutate({ params: { job_id }, body: { pinned: !pinned } })}
      >
        <Pin aria-hidden="true" />
      </ActButton>
      <ActButton
        operation="updateBacktest"
        kind="icon"
        label="Note and tags"
        onClick={() => onDialog({ kind: 'note', row })}
      >
        <NotebookPen aria-hidden="true" />
      </ActButton>
      {isUnfinished ? (
        <ActButton
          operation="cancelBacktest"
          kind="icon"
          label="Cancel"
          onClick={() => onDialog({ kind: 'cancel', row })}
        >
          <Ban aria-hidden="true" />
        </ActButton>
      ) : (
        <ActButton
          operation="deleteBacktest"
          kind="icon"
          label="Delete"
          onClick={() => onDialog({ kind: 'delete', row })}
        >
          <Trash2 aria-hidden="true" />
        </ActButton>
      )}
    </span>
  );
}
