import { useMemo, useState } from 'react';
import type { RequestOf } from '../../api/client.ts';
import { useStoredData } from '../../api/coverage.ts';
import { useAction } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { TIMEFRAMES } from '../../charts/coverage.ts';
import { CoverageStrip } from '../../charts/coverage-strip.tsx';
import { SelectField } from '../../forms/choices.tsx';
import { Field } from '../../forms/field.tsx';
import { Form } from '../../forms/form.tsx';
import { TextField } from '../../forms/inputs.tsx';
import { RequestView } from '../../forms/request-view.tsx';
import { Dialog } from '../../ui/dialog.tsx';

type Body = NonNullable<RequestOf<'startCollection'>['body']>;

interface Draft {
  readonly symbols: string;
  readonly timeframe: string;
  readonly exchange: string | undefined;
  /** UTC days. */
  readonly start: string | undefined;
  readonly end: string | undefined;
}

/** A pair without a settlement currency. */
const SPOT = /^[^/:]+\/[^/:]+$/;
const OPTIONS = TIMEFRAMES.map((value) => ({ value }));

/** Symbols and timeframe of `BTC/USDT:USDT ETH/USDT:USDT 1h`. */
function readWanted(text: string): Pick<Draft, 'symbols' | 'timeframe'> {
  const words = text.split(/\s+/);
  return {
    symbols: words.filter((word) => !TIMEFRAMES.includes(word)).join(' '),
    timeframe: words.find((word) => TIMEFRAMES.includes(word)) ?? '1h',
  };
}

function symbolsOf(text: string): string[] {
  return text
    .toUpperCase()
    .split(/[\s,;]+/)
    .filter((symbol) => symbol !== '');
}

function bodyOf({ symbols, timeframe, exchange, start, end }: Draft): Body {
  const wanted = symbolsOf(symbols);
  return {
    symbols: wanted,
    ...(wanted.length > 0 && wanted.every((symbol) => SPOT.test(symbol)) ? { trading_mode: 'spot' } : {}),
    timeframe,
    ...(exchange ? { exchange } : {}),
    ...(start ? { start } : {}),
    ...(end ? { end } : {}),
  };
}

/** Form of a new collection, with what is stored already. Long because it is the list of the fields, and the request of their values. */
export function CollectDialog(props: {
  readonly exchange: string;
  /** Symbols, and a timeframe. */
  readonly wanted: string;
  readonly start: string | undefined;
  readonly onClose: () => void;
  readonly onStarted: (collectionId: string) => void;
}) {
  const [draft, setDraft] = useState<Draft>({
    ...readWanted(props.wanted),
    exchange: props.exchange,
    start: props.start,
    end: undefined,
  });
  // One object per draft: a second try of the same request starts no second collection.
  const request = useMemo(() => ({ body: bodyOf(draft) }), [draft]);
  const start = useAction('startCollection', ['listCollections', 'getCoverage']);
  const change = (fields: Partial<Draft>) => setDraft((now) => ({ ...now, ...fields }));
  return (
    <Dialog title="Collect candles" onClose={props.onClose}>
      <div className="pad">
        <Form
          label="New collection"
          error={start.error}
          onSubmit={() =>
            start.mutate(request, { onSuccess: ({ collection_id }) => props.onStarted(collection_id) })
          }
          actions={
            <>
              <ActButton operation="startCollection" type="submit" kind="primary" isBusy={start.isPending}>
                Start the collection
              </ActButton>
              <button type="button" className="btn" onClick={props.onClose}>
                Cancel
              </button>
            </>
          }
        >
          <Field
            label="Symbols"
            path="symbols"
            help="Such as BTC/USDT:USDT: base, quote, and the currency that it is settled in. BTC/USDT is the spot pair. Up to 200, separated by blanks or commas."
          >
            {(control) => (
              <textarea
                {...control}
                rows={3}
                required
                spellCheck={false}
                value={draft.symbols}
                onChange={({ target }) => change({ symbols: target.value })}
              />
            )}
          </Field>
          <div className="fields">
            <SelectField
              label="Timeframe"
              path="timeframe"
              options={OPTIONS}
              value={draft.timeframe}
              onChange={(timeframe) => change({ timeframe: timeframe ?? '1h' })}
            />
            <TextField
              label="Exchange"
              path="exchange"
              value={draft.exchange}
              onChange={(exchange) => change({ exchange })}
              maxLength={40}
            />
            <DayField
              label="From (UTC)"
              path="start"
              value={draft.start}
              onChange={(day) => change({ start: day })}
              help="Empty: 90 days before the end"
            />
            <DayField
              label="To (UTC)"
              path="end"
              value={draft.end}
              onChange={(day) => change({ end: day })}
              help="This day is not included. Empty: up to now"
            />
          </div>
          <Stored draft={draft} />
          <details>
            <summary>The request</summary>
            <RequestView operation="startCollection" body={request.body} />
          </details>
        </Form>
      </div>
    </Dialog>
  );
}

function DayField(props: {
  readonly label: string;
  readonly path: string;
  readonly help: string;
  readonly value: string | undefined;
  readonly onChange: (day: string | undefined) => void;
}) {
  return (
    <Field {...props}>
      {(control) => (
        <input
          {...control}
          type="date"
          value={props.value ?? ''}
          onChange={({ target }) => props.onChange(target.value || undefined)}
        />
      )}
    </Field>
  );
}

/** What is stored of the chosen symbols: it is not collected again. */
function Stored({ draft }: { readonly draft: Draft }) {
  const exchange = draft.exchange ?? '';
  const stored = useStoredData(exchange);
  const wanted = symbolsOf(draft.symbols);
  const series = (stored.data?.series ?? []).filter(
    ({ symbol, timeframe }) => timeframe === draft.timeframe && wanted.includes(symbol),
  );
  return (
    <div className="data-known">
      {series.length === 0 ? (
        <p className="muted">Nothing of these symbols is stored in this timeframe.</p>
      ) : (
        <>
          <p className="muted">Stored already; only what is missing is collected:</p>
          <CoverageStrip series={series} start={draft.start} end={draft.end} />
        </>
      )}
    </div>
  );
}
