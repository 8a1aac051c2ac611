import { Copy, Trash2, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { SIMULATED } from '#contract/values/names.ts';
import type { OperationId, ResponseOf } from '../../api/client.ts';
import { useAction, useCall } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { Form } from '../../forms/form.tsx';
import { TextField } from '../../forms/inputs.tsx';
import { ConfirmDialog, Rejection } from '../../ui/confirm-dialog.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Time } from '../../ui/parts.tsx';

/** A series by its name. */
interface Named {
  readonly exchange: string;
  readonly symbol: string;
  readonly timeframe: string;
}

type Details = ResponseOf<'getSeries'>;

const CHANGED: readonly OperationId[] = ['getCoverage', 'getDataStatus', 'getSeries', 'listSeries'];

/** What uses a series, and what can be done with it as a whole. */
export function SeriesActions({ series }: { readonly series: Named }) {
  const { exchange, symbol, timeframe } = series;
  const details = useCall('getSeries', { query: { exchange, symbol, timeframe } });
  const [open, setOpen] = useState<'delete' | 'undo' | 'copy'>();
  const close = () => setOpen(undefined);
  const kept = details.data?.kept_import;
  const body = { exchange, symbol, timeframe };
  const name = `${symbol} ${timeframe} of ${exchange}`;
  return (
    <div className="row">
      <UsedBy uses={details.data?.used_by} />
      {kept && (
        <ActButton operation="undoImport" kind="small" onClick={() => setOpen('undo')}>
          <Undo2 aria-hidden="true" /> Undo the import
        </ActButton>
      )}
      {exchange !== SIMULATED && (
        <ActButton operation="copySeries" kind="small" onClick={() => setOpen('copy')}>
          <Copy aria-hidden="true" /> Copy or rename
        </ActButton>
      )}
      <ActButton operation="deleteSeries" kind="small danger" onClick={() => setOpen('delete')}>
        <Trash2 aria-hidden="true" /> Delete
      </ActButton>
      {open === 'undo' && kept && (
        <ConfirmDialog
          title={`Undo the last import of ${name}`}
          operation="undoImport"
          request={{ body }}
          invalidates={CHANGED}
          confirm="Undo the import"
          keep="Keep it"
          onClose={close}
        >
          <p>
            Candles that the import of <Time at={kept.at} /> replaced get their values back, and those that it
            added are removed. Candles that were collected since stay.
          </p>
        </ConfirmDialog>
      )}
      {open === 'delete' && <DeleteSeries name={name} body={body} onClose={close} />}
      {open === 'copy' && <CopySeries series={series} onClose={close} />}
    </div>
  );
}

function UsedBy({ uses }: { readonly uses: Details['used_by'] | undefined }) {
  if (uses === undefined) return null;
  if (uses.length === 0) return <span className="muted">Nothing uses it now</span>;
  const names = uses.map(({ kind, id, status }) => `${kind} ${id ?? 'of another user'} (${status})`);
  return <span className="muted">Used by {names.join(', ')}</span>;
}

function DeleteSeries(props: { readonly name: string; readonly body: Named; readonly onClose: () => void }) {
  const [isForced, setForced] = useState(false);
  return (
    <ConfirmDialog
      title={`Delete ${props.name}`}
      operation="deleteSeries"
      request={{ body: { ...props.body, ...(isForced && { force: true }) } }}
      invalidates={CHANGED}
      confirm="Delete the candles"
      keep="Keep them"
      onClose={props.onClose}
    >
      <p>
        The candles are deleted. Results of earlier runs stay, but cannot be computed again without them. It
        is rejected while jobs, collections or staged versions use the symbol.
      </p>
      <label className="row">
        <input type="checkbox" checked={isForced} onChange={({ target }) => setForced(target.checked)} />
        Delete it also while something uses it
      </label>
    </ConfirmDialog>
  );
}

function CopySeries({ series, onClose }: { readonly series: Named; readonly onClose: () => void }) {
  const [exchange, setExchange] = useState<string | undefined>(series.exchange);
  const [symbol, setSymbol] = useState<string | undefined>(series.symbol);
  const copy = useAction('copySeries', CHANGED);
  const rename = useAction('renameSeries', CHANGED);
  const request = {
    body: {
      ...series,
      ...(exchange !== undefined && { to_exchange: exchange }),
      ...(symbol !== undefined && { to_symbol: symbol }),
    },
  };
  return (
    <Dialog title={`Copy or rename ${series.symbol} ${series.timeframe}`} onClose={onClose}>
      <div className="pad">
        <Form
          label="Copy or rename"
          error={copy.error}
          onSubmit={() => copy.mutate(request, { onSuccess: onClose })}
          actions={
            <>
              <ActButton operation="copySeries" type="submit" kind="primary" isBusy={copy.isPending}>
                Copy
              </ActButton>
              <ActButton
                operation="renameSeries"
                isBusy={rename.isPending}
                onClick={() => rename.mutate(request, { onSuccess: onClose })}
              >
                Rename
              </ActButton>
              <button type="button" className="btn" onClick={onClose}>
                Cancel
              </button>
            </>
          }
        >
          <div className="fields">
            <TextField
              label="Exchange"
              path="to_exchange"
              value={exchange}
              onChange={setExchange}
              maxLength={40}
            />
            <TextField label="Symbol" path="to_symbol" value={symbol} onChange={setSymbol} maxLength={50} />
          </div>
          <Rejection error={rename.error} />
        </Form>
      </div>
    </Dialog>
  );
}
